import { setTimeout as delay } from 'node:timers/promises';
import type { TaskLook } from '#canonical/index.ts';
import type { TaskList } from '#vendors/index.ts';
import { giveBack } from './claims.repository.ts';
import { concludeAs, giveUp, storeLate } from './conclude.ts';
import { createFewAtOnce } from './few-at-once.ts';
import { judge, type Seen } from './judge.ts';
import { lookAtMany, lookAtOne, upstreamOf, type Upstream } from './look.ts';
import type { LookWriter } from './look-writer.ts';
import type { TaskParts } from './parts.ts';
import { expiryOf } from './schedule.ts';
import { stepOf } from './state.ts';
import type { TaskRow } from './task-row.ts';

/**
 * Ends that are stored at once. Each is a transaction: many would take all connections to PostgreSQL from requests, and
 * wait for each other until they give up.
 */
const endsAtOnce = 4;

/** The longest that a leased row waits for its turn, in milliseconds: with the look itself less than its lease. */
const longestWait = 10_000;

/** Milliseconds until a list that failed is tried again. */
const listAgainAfter = 600_000;

/** Many ids stand in one address, whose length is limited. */
const longestListed = 200;

const none: ReadonlyMap<string, TaskLook> = new Map();

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
  /** Channels whose list failed, and until when tasks are asked for one by one there; of the monotonic clock. */
  const unlistedChannels = new Map<string, number>();

  async function follow(rows: readonly TaskRow[]): Promise<void> {
    const groups = new Map<string, Group>();
    const endings: Promise<void>[] = [];
    for (const row of rows) {
      const upstream = row.state === 'submitting' ? null : upstreamOf(parts, row);
      if (upstream === null) endings.push(settle(row, null));
      else groupOf(groups, upstream).rows.push(row);
    }
    await Promise.all([...endings, ...groups.values().map(followGroup)]);
  }

  /** A list saves calls, where there is one. */
  async function followGroup({ upstream, rows: dueRows }: Group): Promise<void> {
    const { list } = upstream.side;
    const rows = dueRows.toSorted((a, b) => Number(isOver(b)) - Number(isOver(a)));
    const until = clock.monotonic() + longestWait;
    if (
      list === undefined ||
      clock.monotonic() < (unlistedChannels.get(upstream.channel) ?? -Infinity)
    ) {
      await askInTurns(upstream, rows, 1, until, ([row]) => lookAlone(upstream, row!));
    } else {
      await askInTurns(upstream, rows, list.most, until, (part) =>
        lookTogether(upstream, list, part, until),
      );
    }
  }

  /**
   * Asks for this many rows at once when the channel may be asked; those whose turn is later than `until` are put off.
   */
  async function askInTurns(
    { channel, side }: Upstream,
    rows: readonly TaskRow[],
    most: number,
    until: number,
    look: (rows: readonly TaskRow[]) => Promise<void>,
  ): Promise<void> {
    const calls: Promise<void>[] = [];
    for (let at = 0; at < rows.length; at += most) {
      const wait = pace.reserve(channel, side.looksPerSecond, until - clock.monotonic());
      if (wait === null) {
        calls.push(putOff(rows.slice(at)));
        break;
      }
      const part = rows.slice(at, at + most);
      calls.push(after(wait, () => look(part)));
    }
    await Promise.all(calls);
  }

  async function after(wait: number, look: () => Promise<void>): Promise<void> {
    if (wait > 0) await delay(wait, undefined, { ref: false, signal: stop }).catch(() => {});
    // All leases are given back at the stop.
    if (!stop.aborted) await look();
  }

  async function lookAlone(upstream: Upstream, row: TaskRow): Promise<void> {
    const observation = await lookAtOne(parts, upstream, row);
    if (!stop.aborted) await settle(row, observation);
  }

  /**
   * Looks by a list. What it does not name is asked for alone, and so is what would expire with this look: other
   * gateways and compatible servers have no list, or one that leaves tasks out.
   */
  async function lookTogether(
    upstream: Upstream,
    list: TaskList,
    rows: readonly TaskRow[],
    until: number,
  ): Promise<void> {
    const listable = rows.filter(({ upstream_id }) => upstream_id!.length <= longestListed);
    const listLooks =
      listable.length === 0 ? none : await lookAtMany(parts, upstream, list, listable);
    if (stop.aborted) return;
    if (listLooks === 'limited') return putOff(rows);
    if (listLooks === 'none')
      unlistedChannels.set(upstream.channel, clock.monotonic() + listAgainAfter);
    const looks = listLooks === 'none' ? none : listLooks;
    const isSettled = (row: TaskRow) => {
      const look = looks.get(row.upstream_id!);
      return look !== undefined && (!isOver(row) || stepOf(row.state, look).kind === 'ended');
    };
    const alone = rows.filter((row) => !isSettled(row));
    await Promise.all([
      ...rows.filter(isSettled).map((row) => settle(row, looks.get(row.upstream_id!)!)),
      askInTurns(upstream, alone, 1, until, ([row]) => lookAlone(upstream, row!)),
    ]);
  }

  /** Whether the next look at an open task is its last. */
  function isOver(row: TaskRow): boolean {
    return row.ended_at === null && clock.now() >= expiryOf(row, settings);
  }

  /** The channel may not be asked in time: another node looks, or this one does later. An expiry never waits. */
  async function putOff(rows: readonly TaskRow[]): Promise<void> {
    const later = rows.filter((row) => !isOver(row));
    await Promise.all([
      ...rows.filter(isOver).map((row) => settle(row, null)),
      later.length > 0 ? giveBack(database, owner, later).catch(onProblem) : null,
    ]);
  }

  async function settle(row: TaskRow, observation: Seen): Promise<void> {
    try {
      if (row.state === 'submitting') await inTurn(() => giveUp(parts, row));
      else if (row.ended_at !== null) await inTurn(() => storeLate(parts, row, observation));
      else {
        const verdict = judge(row, observation, settings, clock.now());
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
