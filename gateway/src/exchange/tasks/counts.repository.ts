import { sql } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';

/** Open tasks of one channel in one state. */
export interface OpenCount {
  readonly state: string;
  /** Empty: no upstream has accepted them yet. */
  readonly channel: string;
  readonly count: number;
}

export interface Counts {
  readonly open: readonly OpenCount[];
  /** When the look that is due for longest was due, in Unix milliseconds; null: none is. */
  readonly oldestDue: number | null;
}

/** @param now Unix milliseconds */
export async function countTasks({ kysely }: OpenDatabase, now: number): Promise<Counts> {
  const open = await kysely
    .selectFrom('tasks')
    .select(({ fn }) => [
      'state',
      sql<string>`coalesce(channel, '')`.as('channel'),
      fn.countAll<number>().as('count'),
    ])
    .where('ended_at', 'is', null)
    .groupBy(['state', 'channel'])
    .execute();
  const oldest = await kysely
    .selectFrom('tasks')
    .select(({ fn }) => fn.min('due_at').as('due'))
    .where('due_at', '<=', now)
    .executeTakeFirst();
  return {
    open,
    oldestDue: oldest?.due ?? null,
  };
}

/** Removes at most `limit` tasks that ended before a time (Unix milliseconds), and returns their number. */
export async function removeOldTasks(
  { kysely }: OpenDatabase,
  before: number,
  limit: number,
): Promise<number> {
  const { numDeletedRows } = await kysely
    .deleteFrom('tasks')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('tasks')
        .select('id')
        .where('ended_at', '<', before)
        .orderBy('ended_at')
        .limit(limit),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
