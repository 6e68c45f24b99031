import { setTimeout as delay } from 'node:timers/promises';
import { giveBack } from './claims.repository.ts';
import { concludeAs, giveUp, storeLate } from './conclude.ts';
import { createFewAtOnce } from './few-at-once.ts';
import { judge, type Seen } from './judge.ts';
import { lookAtMany, lookAtOne, upstreamOf, type Upstream } from './look.ts';
import type { LookWriter } from './look-writer.ts';
import type { TaskParts } from './parts.ts';
import { expiryOf } from './schedule.ts';
import type { TaskRow } from './task-row.ts';

/**
 * Ends that are stored at once. Each is a transaction: many would take all connections to PostgreSQL from requests, and
 * wait for each other until they give up.
 */
const endsAtOnce = 4;

/** The longest that a leased row waits for its turn, in milliseconds: with the look itself less than its lease. */
const longestWait = 10_000;

interface Group {
  readonly upstream: Upstream;
  readonly rows: TaskRow[];
}

/**
 * Looks at rows that this node has leased, and stores what it sees.
 * @param onProblem receives what could not be stored; the rows are looked at again when their leases end
 * @returns a function that resolves when all of them are done; it never rejects
 */
export function createFollower(
  parts: TaskParts,
  writer: LookWriter,
  onProblem: (error: unknown) => void,
): (rows: readonly TaskRow[]) => Promise<void> {
  const { pace, stop, settings, clock, database, owner } = parts;
  const inTurn = createFewAtOnce(endsAtOnce);

  async function follow(rows: readonly TaskRow[]): Promise<void> {
    const groups = new Map<string, Group>();
    const done: Promise<void>[] = [];
    for (const row of rows) {
      const upstream = row.state === 'submitting' ? null : upstreamOf(parts, row);
      if (upstream === null) done.push(settle(row, null));
      else groupOf(groups, upstream).rows.push(row);
    }
    await Promise.all([...done, ...groups.values().map(followGroup)]);
  }

  async function followGroup({ upstream, rows }: Group): Promise<void> {
    const { side, channel } = upstream;
    const inOneCall = side.list?.most ?? 1;
    const asked: Promise<void>[] = [];
    for (let at = 0; at < rows.length; at += inOneCall) {
      const wait = pace.reserve(channel, side.looksPerSecond, longestWait);
      if (wait === null) {
        asked.push(putOff(rows.slice(at)));
        break;
      }
      asked.push(lookIn(wait, upstream, rows.slice(at, at + inOneCall)));
    }
    await Promise.all(asked);
  }

  async function lookIn(wait: number, upstream: Upstream, rows: TaskRow[]): Promise<void> {
    try {
      if (wait > 0) await delay(wait, undefined, { ref: false, signal: stop });
    } catch {
      // All leases are given back at the stop.
      return;
    }
    const seen = await look(upstream, rows);
    if (stop.aborted) return;
    await Promise.all(rows.map((row) => settle(row, seen.get(row.upstream_id!) ?? null)));
  }

  async function look(upstream: Upstream, rows: TaskRow[]): Promise<ReadonlyMap<string, Seen>> {
    const [first] = rows;
    if (upstream.side.list !== undefined) return lookAtMany(parts, upstream, rows);
    return new Map([[first!.upstream_id!, await lookAtOne(parts, upstream, first!)]]);
  }

  /** The channel may not be asked in time: another node looks, or this one does later. An expiry waits for nobody. */
  async function putOff(rows: readonly TaskRow[]): Promise<void> {
    const now = clock.now();
    const isOver = (row: TaskRow) => row.ended_at === null && now >= expiryOf(row, settings);
    const later = rows.filter((row) => !isOver(row));
    await Promise.all([
      ...rows.filter(isOver).map((row) => settle(row, null)),
      later.length > 0 ? giveBack(database, owner, later).catch(onProblem) : null,
    ]);
  }

  async function settle(row: TaskRow, seen: Seen): Promise<void> {
    try {
      if (row.state === 'submitting') await inTurn(() => giveUp(parts, row));
      else if (row.ended_at !== null) await inTurn(() => storeLate(parts, row, seen));
      else {
        const verdict = judge(row, seen, settings, clock.now());
        if (verdict.kind === 'goes-on') writer.write(verdict.looked);
        else await inTurn(() => concludeAs(parts, row, verdict));
      }
    } catch (error) {
      onProblem(error);
    }
  }

  return follow;
}

function groupOf(groups: Map<string, Group>, upstream: Upstream): Group {
  const { channel, protocol, access } = upstream;
  const name = JSON.stringify([channel, protocol, access]);
  let group = groups.get(name);
  if (group === undefined) groups.set(name, (group = { upstream, rows: [] }));
  return group;
}
