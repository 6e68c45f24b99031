import { claimOne, giveBack } from './claims.repository.ts';
import { orUnavailable, unavailable } from './errors.ts';
import { settleNow } from './finder.ts';
import { askFor, lookAtOne, upstreamOf, type Upstream } from './look.ts';
import type { TaskParts } from './parts.ts';
import type { TaskRow } from './task-row.ts';
import type { Tasks } from './tasks.ts';
import { hideTask, readTask } from './views.repository.ts';

/** Milliseconds that an owner waits for a turn of the channel. */
const longestWait = 2_000;

/** Cancels tasks, and hides those that have ended. */
export function createRemover(parts: TaskParts): Tasks['remove'] {
  const { database, owner: node } = parts;
  return (owner, id) =>
    orUnavailable(async () => {
      const knownRow = await readTask(database, owner, id);
      if (knownRow === null) return null;
      if (knownRow.ended_at !== null) {
        await hideTask(database, id);
        return 'hidden';
      }
      if (knownRow.state === 'running') return 'running';
      const row = await claimOne(database, id, node);
      // A look at it is under way.
      if (row === null) throw unavailable();
      const after = await cancel(parts, row);
      return after.failure?.kind === 'cancelled' ? 'cancelled' : 'running';
    });
}

/**
 * Cancels a task that its upstream says is queued. Only what the upstream says afterwards counts: it may have begun in
 * between, or have ended.
 * @returns the row after that
 */
async function cancel(parts: TaskParts, row: TaskRow): Promise<TaskRow> {
  const upstream = upstreamOf(parts, row);
  const call = upstream?.side.cancel?.(row.upstream_id!);
  if (upstream === null || call === undefined) {
    await giveBack(parts.database, parts.owner, [row]);
    return row;
  }
  const before = await lookIn(parts, upstream, row);
  // To an upstream, the same call removes a task that has ended, and with it what it made.
  if (before?.state !== 'queued') return settleNow(parts, row, before);
  await askFor(parts, upstream, call);
  return settleNow(parts, row, await lookIn(parts, upstream, row));
}

/** @throws GatewayError `unavailable` if the channel may not be asked now; the row is given back. */
async function lookIn(parts: TaskParts, upstream: Upstream, row: TaskRow) {
  const wait = parts.pace.reserve(upstream.channel, upstream.side.looksPerSecond, longestWait);
  if (wait === null) {
    await giveBack(parts.database, parts.owner, [row]);
    throw unavailable();
  }
  await new Promise((resolve) => setTimeout(resolve, wait));
  return lookAtOne(parts, upstream, row);
}
