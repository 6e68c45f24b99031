import { setTimeout as delay } from 'node:timers/promises';
import type { TaskView } from '#canonical/index.ts';
import { claimOne } from './claims.repository.ts';
import { concludeAs } from './conclude.ts';
import { orUnavailable } from './errors.ts';
import { judge, rowAfter, type Seen } from './judge.ts';
import { lookAtOne, upstreamOf } from './look.ts';
import { storeLooks } from './looks.repository.ts';
import type { TaskParts } from './parts.ts';
import { expiryOf, lookRules } from './schedule.ts';
import { viewOf, type TaskRow } from './task-row.ts';
import type { Tasks } from './tasks.ts';
import { readTask, readTasks } from './views.repository.ts';

/**
 * Milliseconds that an owner waits for a turn of the channel, and for a look in all; the look continues without him.
 */
const longestWait = 500;
const patience = 5_000;

/** What owners of tasks ask for. */
export function createFinder(parts: TaskParts): Pick<Tasks, 'find' | 'list'> {
  const { database, clock, settings } = parts;
  /** Looks under way, by id: many may ask for the same task. */
  const looking = new Map<string, Promise<TaskRow>>();

  function isFresh(row: TaskRow): boolean {
    const now = clock.now();
    const last = row.looked_at ?? row.accepted_at!;
    return now - last <= lookRules.fresh && now < expiryOf(row, settings);
  }

  function refresh(row: TaskRow): Promise<TaskRow> {
    const runningLook = looking.get(row.id);
    if (runningLook !== undefined) return runningLook;
    const look = lookNow(parts, row).finally(() => looking.delete(row.id));
    looking.set(row.id, look);
    return look;
  }

  const viewsOf = async (rows: readonly TaskRow[]): Promise<readonly TaskView[]> => {
    const views = rows.map(viewOf);
    return (await parts.results?.withLinks(views)) ?? views;
  };
  const shownOne = async (row: TaskRow): Promise<TaskView> => (await viewsOf([row]))[0]!;

  return {
    find: (owner, id) =>
      orUnavailable(async () => {
        const row = await readTask(database, owner, id);
        if (row === null) return null;
        if (row.ended_at !== null || isFresh(row)) return shownOne(row);
        const look = refresh(row);
        const late = delay(patience, row, { ref: false });
        return shownOne(await Promise.race([look, late]));
      }),

    list: (owner, query) =>
      orUnavailable(async () => {
        const { total, rows } = await readTasks(database, owner, query);
        return { total, tasks: await viewsOf(rows) };
      }),
  };
}

/**
 * Looks at one task now, unless another look is under way or its channel must not be asked. Resolves to the row as it
 * is then.
 * @throws the error of the database
 */
async function lookNow(parts: TaskParts, knownRow: TaskRow): Promise<TaskRow> {
  const { database, owner, pace, clock, settings } = parts;
  const upstream = upstreamOf(parts, knownRow);
  // Before the row is claimed: many may ask for tasks of a channel that may not be asked, and that writes nothing.
  const wait =
    upstream === null
      ? null
      : pace.reserve(upstream.channel, upstream.side.looksPerSecond, longestWait);
  const isOver = clock.now() >= expiryOf(knownRow, settings);
  if (upstream !== null && wait === null && !isOver) return knownRow;
  const row = await claimOne(database, knownRow.id, owner);
  if (row === null) return knownRow;
  if (upstream === null || wait === null) return settleNow(parts, row, null);
  if (wait > 0) await delay(wait, undefined, { ref: false });
  return settleNow(parts, row, await lookAtOne(parts, upstream, row));
}

/** Stores a look at a row that this node has leased. */
export async function settleNow(
  parts: TaskParts,
  row: TaskRow,
  observation: Seen,
): Promise<TaskRow> {
  const { database, settings, clock } = parts;
  const verdict = judge(row, observation, settings, clock.now());
  if (verdict.kind === 'goes-on') {
    await storeLooks(database, [verdict.looked]);
    return rowAfter(verdict.looked);
  }
  return (await concludeAs(parts, row, verdict))?.row ?? row;
}
