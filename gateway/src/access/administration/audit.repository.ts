import { type Kysely, type Selectable, sql } from 'kysely';
import { containing } from '#database/expressions.ts';
import type { AuditTable, Database } from '#database/index.ts';
import type { FieldChange } from '#declaration/index.ts';
import { type Actor, actorName, type Audit } from './audit.ts';
import { processUser } from './process-user.ts';

/** A field before and after. A secret is `"changed"` and never shown. */
export interface AuditChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A line of the audit log as people read it. */
export interface AuditLine {
  readonly id: number;
  readonly time: string;
  readonly actor: {
    readonly kind: string;
    readonly name: string;
    /** Of a command or the file: the user of the machine whose process it was; null: unknown. */
    readonly user: string | null;
    readonly address: string | null;
  };
  /** Such as `key.rotate`. */
  readonly action: string;
  readonly object: { readonly kind: string; readonly id: string | null; readonly name: string };
  readonly changes: readonly AuditChange[];
  readonly reason: string | null;
  readonly request_id: string | null;
}

export interface AuditFilter {
  /** Unix milliseconds, inclusive and exclusive. */
  readonly from?: number;
  readonly to?: number;
  /** A part of an actor's name, in capitals or not; or the id of a person or an admin key, or the user of the machine. */
  readonly actor?: string;
  /** As in a line. */
  readonly actorKind?: string;
  /** `key.rotate`, or `key` for all that is done to keys. */
  readonly action?: string;
  /** A part of an object's name, in capitals or not, or its id. */
  readonly object?: string;
  readonly limit: number;
  /** Only lines before this one. */
  readonly before?: number;
  /** Only this line and those after it. */
  readonly since?: number;
}

const kinds = {
  gateway: 'system',
  command: 'command',
  file: 'file',
  user: 'person',
  'admin-key': 'admin_key',
} as const;

/** Kinds of actors that are known by the user of the machine. */
const namedByUser: ReadonlySet<string> = new Set([kinds.command, kinds.file]);

/** Adds a line, in the transaction of what it tells. */
export const recordAudit: Audit = async ({ trx, now }, actor, entry) => {
  const { action, subject, fields, reason = null } = entry;
  await trx
    .insertInto('audit_log')
    .values({
      time: now,
      actor_kind: kinds[actor.kind],
      actor_id: idOf(actor),
      actor_name: actorName(actor),
      address: 'address' in actor ? (actor.address ?? null) : null,
      action: `${subject.kind}.${action}`,
      object_kind: subject.kind,
      object_id: subject.id ?? null,
      object_name: subject.name,
      changes: JSON.stringify(fields.map(changeOf)),
      reason,
      request_id: 'requestId' in actor ? (actor.requestId ?? null) : null,
    })
    .execute();
};

/** Newest first. */
export async function listAudit(db: Kysely<Database>, filter: AuditFilter): Promise<AuditLine[]> {
  const { from, to, actor, actorKind, action, object, limit, before, since } = filter;
  let query = db.selectFrom('audit_log').selectAll().orderBy('id', 'desc').limit(limit);
  if (from !== undefined) query = query.where('time', '>=', from);
  if (to !== undefined) query = query.where('time', '<', to);
  if (before !== undefined) query = query.where('id', '<', before);
  if (since !== undefined) query = query.where('id', '>=', since);
  if (actor !== undefined) {
    query = query.where(({ eb, or }) =>
      or([containing(sql.ref('actor_name'), actor), eb('actor_id', '=', actor)]),
    );
  }
  if (actorKind !== undefined) query = query.where('actor_kind', '=', actorKind);
  if (action !== undefined) {
    const column = action.includes('.') ? 'action' : 'object_kind';
    query = query.where(column, '=', action);
  }
  if (object !== undefined) {
    query = query.where(({ eb, or }) =>
      or([containing(sql.ref('object_name'), object), eb('object_id', '=', object)]),
    );
  }
  return (await query.execute()).map(toLine);
}

/** So many lines are looked at for a page: no index finds a part of a name, and the log is long. */
const mostLookedAt = 100_000;
/** Lines by which the order of times may differ from that of ids, as clocks differ. */
const slack = 1_000;

/**
 * A page of lines, newest first. `next` continues it: null if there is no older line of the range. A page may have few
 * lines, or none, where the ones that match are far apart.
 */
export async function auditPage(
  db: Kysely<Database>,
  filter: AuditFilter,
): Promise<{ readonly data: AuditLine[]; readonly next: number | null }> {
  const { from, to, limit, before = Infinity } = filter;
  // Apart from each other, each is the end of an index.
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select (select min(id) from audit_log) as first, (select max(id) from audit_log) as last`.execute(
    db,
  );
  const [ends] = rows;
  const first =
    from === undefined ? (ends?.first ?? 0) : ((await idAt(db, from)) ?? Infinity) - slack;
  const top = Math.min(before, (ends?.last ?? 0) + 1, ((await idAt(db, to)) ?? Infinity) + slack);
  const since = top - mostLookedAt;
  // One more than is shown tells whether there is a next page.
  const lines = await listAudit(db, { ...filter, limit: limit + 1, before: top, since });
  const data = lines.slice(0, limit);
  if (lines.length > limit) return { data, next: data.at(-1)?.id ?? null };
  return { data, next: since > first ? since : null };
}

/** The first line of this time or of a later one; null: there is none. */
async function idAt(db: Kysely<Database>, time: number | undefined): Promise<number | null> {
  if (time === undefined) return null;
  const line = await db
    .selectFrom('audit_log')
    .select('id')
    .where('time', '>=', time)
    .orderBy('time')
    .limit(1)
    .executeTakeFirst();
  return line?.id ?? null;
}

/** Removes at most `most` lines from before a time, and returns their number. */
export async function removeOldAudit(
  db: Kysely<Database>,
  before: number,
  most: number,
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('audit_log')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('audit_log')
        .select('id')
        .where('time', '<', before)
        .orderBy('time')
        .limit(most),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

function idOf(actor: Actor): string | null {
  if ('id' in actor) return actor.id;
  return actor.kind === 'gateway' ? null : processUser();
}

function changeOf({ field, before, after, secret }: FieldChange): AuditChange {
  if (secret) return { field, before: null, after: 'changed' };
  return { field, before: valueOf(before), after: valueOf(after) };
}

const valueOf = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

function toLine(row: Selectable<AuditTable>): AuditLine {
  return {
    id: row.id,
    time: new Date(row.time).toISOString(),
    actor: {
      kind: row.actor_kind,
      name: row.actor_name,
      user: namedByUser.has(row.actor_kind) ? row.actor_id : null,
      address: row.address,
    },
    action: row.action,
    object: { kind: row.object_kind, id: row.object_id, name: row.object_name },
    changes: JSON.parse(row.changes) as AuditChange[],
    reason: row.reason,
    request_id: row.request_id,
  };
}
