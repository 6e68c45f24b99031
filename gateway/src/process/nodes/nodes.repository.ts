import { sql, type RawBuilder } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';

/** A node as of its last heartbeat. */
export interface SeenNode {
  readonly id: string;
  /** Milliseconds since its last heartbeat. */
  readonly silentFor: number;
  /** Usage records that were on its disk but not in the database. */
  readonly journalDepth: number;
}

export interface Sign {
  readonly id: string;
  /** Unix milliseconds by that node's own clock, for people. */
  readonly startedAt: number;
  readonly journalDepth: number;
  /** JSON; null: nothing is known. */
  readonly state: string | null;
}

/**
 * The clock of the database in Unix milliseconds: heartbeats are compared by it, whatever the nodes' own clocks say.
 */
function now(dialect: OpenDatabase['dialect']): RawBuilder<number> {
  return dialect === 'postgres'
    ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`;
}

/** Records a heartbeat of the node. */
export async function signLife({ kysely, dialect }: OpenDatabase, sign: Sign): Promise<void> {
  await kysely
    .insertInto('nodes')
    .values({
      id: sign.id,
      started_at: sign.startedAt,
      seen_at: now(dialect),
      journal_depth: sign.journalDepth,
      state: sign.state,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet(({ ref }) => ({
        started_at: ref('excluded.started_at'),
        seen_at: ref('excluded.seen_at'),
        journal_depth: ref('excluded.journal_depth'),
        state: ref('excluded.state'),
      })),
    )
    .execute();
}

/** The start of the process that sent the node's last heartbeat, by its own clock; null if there was none. */
export async function lastStart({ kysely }: OpenDatabase, id: string): Promise<number | null> {
  const row = await kysely
    .selectFrom('nodes')
    .select('started_at')
    .where('id', '=', id)
    .executeTakeFirst();
  return row?.started_at ?? null;
}

/** Every node except this one. */
export async function otherNodes(
  { kysely, dialect }: OpenDatabase,
  id: string,
): Promise<SeenNode[]> {
  const rows = await kysely
    .selectFrom('nodes')
    .select(['id', 'seen_at', 'journal_depth', now(dialect).as('now')])
    .where('id', '<>', id)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    silentFor: row.now - row.seen_at,
    journalDepth: row.journal_depth,
  }));
}

/** Every node that is known, by id. */
export async function allNodes({
  kysely,
  dialect,
}: OpenDatabase): Promise<(SeenNode & Pick<Sign, 'startedAt' | 'state'>)[]> {
  const rows = await kysely
    .selectFrom('nodes')
    .select(['id', 'started_at', 'seen_at', 'journal_depth', 'state', now(dialect).as('now')])
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    startedAt: row.started_at,
    silentFor: row.now - row.seen_at,
    journalDepth: row.journal_depth,
    state: row.state,
  }));
}

/** Usage records that are missing from the journal of a node, unless the operator has taken note of it. */
export interface LostRecords {
  readonly node: string;
  readonly missing: number;
}

export function lostRecords({ kysely }: OpenDatabase): Promise<LostRecords[]> {
  return kysely
    .selectFrom('journal_losses')
    .select(['node', ({ fn }) => fn.sum<number>('missing').as('missing')])
    .where('acknowledged_at', 'is', null)
    .groupBy('node')
    .orderBy('node')
    .execute();
}

/** Removes a node that ended and left nothing behind. */
export async function removeNode({ kysely }: OpenDatabase, id: string): Promise<void> {
  await kysely.deleteFrom('nodes').where('id', '=', id).execute();
}
