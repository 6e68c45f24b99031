import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { recordAudit } from '#administration/index.ts';
import { csvHeading, listUsage, toCsv, type UsageEntry } from '#usage/index.ts';
import { contract, exportedRow } from '../contract/index.ts';
import { fromDatabase } from '../from-database.ts';
import { serveStream } from '../serve-route.ts';
import { actorOf } from '../sessions/connection.ts';
import { filterOf, rangeOf, scopeOf, type UsageRoutesOptions, rowOf } from './filter.ts';

/** Few enough that no request for a model waits for them. */
const rowsAtOnce = 100;
/** Milliseconds after which a reader that takes nothing is dropped. */
const patience = 60_000;

const formats = {
  csv: { type: 'text/csv; charset=utf-8', heading: csvHeading, line: toCsv },
  jsonl: {
    type: 'application/jsonl',
    heading: '',
    line: (entry: UsageEntry) => `${JSON.stringify(exportedRow.parse(rowOf(entry)))}\n`,
  },
} as const;

/** All requests that a filter leaves, page by page: memory does not grow with them. */
export function exportRoute(scope: FastifyInstance, options: UsageRoutesOptions): void {
  const { database, reads, now } = options;
  serveStream(scope, contract.exportUsage, options, async ({ request, query, caller }, begin) => {
    const { type, heading, line } = formats[query.format];
    // The end stays where it is: rows of later requests do not belong to this file.
    const filter = { ...filterOf(query), ...rangeOf(query, now()), limit: rowsAtOnce };
    const pageAfter = (cursor: string | null) =>
      reads(async (db) =>
        listUsage(db, {
          ...filter,
          ...(await scopeOf(db, caller)),
          ...(cursor !== null && { cursor }),
        }),
      );
    let page = await pageAfter(null);
    const queryText = JSON.stringify(query);
    await fromDatabase(() =>
      database.kysely.transaction().execute((trx) =>
        recordAudit({ trx, now: now() }, actorOf(request, caller.session.user), {
          action: 'export',
          subject: { kind: 'usage', name: `requests.${query.format}` },
          fields: [{ field: 'filter', before: null, after: queryText, secret: false }],
        }),
      ),
    );
    const body = begin(type, [
      'content-disposition',
      `attachment; filename="requests.${query.format}"`,
    ]);
    try {
      await write(body, heading + page.data.map(line).join(''));
      while (page.next !== null && !body.destroyed) {
        page = await pageAfter(page.next);
        await write(body, page.data.map(line).join(''));
      }
      body.end();
    } catch {
      // A file that ends too early must not look whole.
      body.destroy();
    }
  });
}

/** Waits until it is taken. @throws Error if the other side takes nothing, or is gone */
async function write(body: ServerResponse, text: string): Promise<void> {
  if (body.write(text)) return;
  await once(body, 'drain', { signal: AbortSignal.timeout(patience) });
}
