import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { type AuditFilter, type AuditLine, auditPage } from '#administration/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { csvLine } from '#usage/index.ts';
import { contract, type Contract } from '../contract/index.ts';
import { recordExport, sendPages, storedAs } from '../file-stream.ts';
import type { Reads } from '../from-database.ts';
import { serveRoute, serveStream, type ServeOptions } from '../serve-route.ts';

export interface AuditRoutesOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const defaultLimit = 50;
/** Enough that the cost of a query is little beside that of its lines. */
const linesAtOnce = 500;

const columns = {
  id: ({ id }) => id,
  time: ({ time }) => time,
  actor_kind: ({ actor }) => actor.kind,
  actor: ({ actor }) => actor.name,
  user: ({ actor }) => actor.user,
  address: ({ actor }) => actor.address,
  action: ({ action }) => action,
  object_kind: ({ object }) => object.kind,
  object: ({ object }) => object.name,
  object_id: ({ object }) => object.id,
  changes: ({ changes }) => JSON.stringify(changes),
  reason: ({ reason }) => reason,
  request_id: ({ request_id }) => request_id,
} satisfies Record<string, (line: AuditLine) => string | number | null>;

const formats = {
  csv: {
    type: 'text/csv; charset=utf-8',
    heading: csvLine(Object.keys(columns)),
    line: (line: AuditLine) => csvLine(Object.values(columns).map((column) => column(line))),
  },
  jsonl: {
    type: 'application/jsonl',
    heading: '',
    line: (line: AuditLine) => `${JSON.stringify(line)}\n`,
  },
} as const;

/** Who changed what. */
export function auditRoutes(scope: FastifyInstance, options: AuditRoutesOptions): void {
  const { reads } = options;

  const readPage = (filter: AuditFilter) => reads((db) => auditPage(db, filter));

  serveRoute(scope, contract.listAudit, options, async ({ query }) => {
    const { limit = defaultLimit, cursor } = query;
    const before = cursor !== undefined && { before: cursor };
    const { data, next } = await readPage({ ...filterOf(query), limit, ...before });
    return { body: { data, next: next === null ? null : String(next) } };
  });

  serveStream(scope, contract.exportAudit, options, async ({ query, caller }, begin) => {
    const { format, ...filters } = query;
    const filter = { ...filterOf(filters), limit: linesAtOnce };
    const first = await readPage(filter);
    const name = `audit.${format}`;
    await recordExport(options, caller.actor, { kind: 'audit', name }, filters);
    const { type, ...form } = formats[format];
    await sendPages(begin(type, storedAs(name)), form, first, (before: number) =>
      readPage({ ...filter, before }),
    );
  });
}

type Filters = Omit<z.output<Contract['listAudit']['query']>, 'limit' | 'cursor'>;

function filterOf({
  from,
  to,
  actor,
  actor_kind,
  action,
  object,
}: Filters): Omit<AuditFilter, 'limit'> {
  return {
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(actor !== undefined && { actor }),
    ...(actor_kind !== undefined && { actorKind: actor_kind }),
    ...(action !== undefined && { action }),
    ...(object !== undefined && { object }),
  };
}
