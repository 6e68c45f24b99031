import { closedFor, type RateDecision, type RateLimit, type RateRequest } from '../rates.ts';
import { exactLimit } from '../memory/sliding-window.ts';
import type { Share } from '../memory/share.ts';
import type { Denials } from './denials.ts';
import type { Asking } from './ask.ts';
import { createUnreported, type UnreportedWindow } from './unreported.ts';

/** Milliseconds. */
export const slotRules = Object.freeze({
  /** A slot expires after this time unless its node renews it. */
  leaseMs: 60_000,
  renewEveryMs: 20_000,
  /** After this time without a renewal, slots are renewed before anything is admitted. */
  lateMs: 45_000,
});
const idsPerRenewal = 500;
/** Of each kind; Redis has other work in between. */
const reportedAtOnce = 100;
/** Requests that left while Redis was unreachable. Beyond this number, slots end with their lease. */
const mostLeft = 100_000;

const never = Object.freeze({ monotonic: -Infinity, wall: -Infinity });
const admission: RateDecision = Object.freeze({ admitted: true });

export interface RemoteRates {
  checkRates(request: RateRequest): RateDecision | Promise<RateDecision>;
  leave(id: string): void;
  /** Reports to Redis all that it has missed. Call it before Redis decides again. */
  catchUp(): Promise<void>;
  /** Renews every slot of this node. */
  renew(): Promise<void>;
  /** Waits until Redis has heard of the requests that have left. */
  close(): Promise<void>;
}

export interface RemoteRatesOptions {
  readonly ask: Asking['ask'];
  readonly isUp: () => boolean;
  /** The prefix of every key. */
  readonly prefix: string;
  readonly share: Share;
  readonly denials: Denials;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly monotonic: () => number;
}

/** Rates and concurrency in Redis; in this node's share while Redis is lost. */
export function createRemoteRates(options: RemoteRatesOptions): RemoteRates {
  const { ask, isUp, prefix, share, denials, now, monotonic } = options;
  const departures = new Map<string, readonly string[]>();
  const unreportedWindows = createUnreported(monotonic);
  const leaving = new Set<Promise<void>>();
  /** When all slots of this node were renewed. By both clocks: one stands still while the machine sleeps, the other may be set back. */
  let renewedAt = never;
  const slotsKey = (name: string): string => `${prefix}slots:${name}`;
  const timesKey = (name: string): string => `${prefix}times:${name}`;
  const keyOf = ({ name, windowMs }: RateLimit): string =>
    windowMs === 0 ? slotsKey(name) : timesKey(name);

  const leaveSlots = (id: string, names: readonly string[]): void => {
    if (names.length === 0) return;
    if (isUp()) reportLeft(id, names).catch(() => {});
    else keepLeft(id, names);
  };

  const reportLeft = (id: string, names: readonly string[]): Promise<void> => {
    const departure = ask('leave', names.map(slotsKey), [id]).then(
      () => {},
      (error: unknown) => {
        keepLeft(id, names);
        throw error;
      },
    );
    const outcome = departure.catch(() => {});
    leaving.add(outcome);
    void outcome.then(() => leaving.delete(outcome));
    return departure;
  };

  const keepLeft = (id: string, names: readonly string[]): void => {
    if (departures.size < mostLeft) departures.set(id, names);
  };

  const reportWindow = async (window: UnreportedWindow): Promise<void> => {
    const { name, windowMs, parts } = window;
    const time = monotonic();
    const values = [String(windowMs)];
    for (const { at, count } of parts.values()) {
      // One that has left the window would come back with the end of its part.
      if (time - at < windowMs) {
        values.push(String(Math.floor((time - at) * 1_000)), String(count));
      }
    }
    try {
      if (values.length > 1) await ask('count', [timesKey(name)], values);
    } catch (error) {
      unreportedWindows.putBack([window]);
      throw error;
    }
  };

  /** Reports in this turn what Redis has missed. @param most windows, and as many released slots */
  const report = async (most: number): Promise<void> => {
    const reports = unreportedWindows.take(most).map(reportWindow);
    for (const [id, names] of [...departures].slice(0, most)) {
      departures.delete(id);
      reports.push(reportLeft(id, names));
    }
    await Promise.all(reports);
  };

  const renew = async (): Promise<void> => {
    renewedAt = { monotonic: monotonic(), wall: now() };
    const idsBySlot = new Map<string, string[]>();
    for (const [id, names] of share.admissions.slots()) {
      for (const name of names) {
        const ids = idsBySlot.get(name);
        if (ids === undefined) idsBySlot.set(name, [id]);
        else ids.push(id);
      }
    }
    const questions: Promise<unknown>[] = [];
    for (const [name, ids] of idsBySlot) {
      for (let at = 0; at < ids.length; at += idsPerRenewal) {
        const some = ids.slice(at, at + idsPerRenewal);
        // All at once: what leaves from now on is reported behind it.
        questions.push(ask('renew', [slotsKey(name)], [String(slotRules.leaseMs), ...some]));
      }
    }
    try {
      await Promise.all(questions);
    } catch (error) {
      renewedAt = never;
      throw error;
    }
  };

  /** This process, or its machine, may have stood still while its slots expired. */
  const isLate = (): boolean =>
    monotonic() - renewedAt.monotonic >= slotRules.lateMs ||
    now() - renewedAt.wall >= slotRules.lateMs;

  const admitAlone = (request: RateRequest): RateDecision => {
    const decision = share.checkRates(request);
    if (decision.admitted) {
      unreportedWindows.add(request.limits);
      renewedAt = never;
    }
    return decision;
  };

  const admitInRedis = async (request: RateRequest): Promise<RateDecision> => {
    const { id, limits } = request;
    const values = [id, String(slotRules.leaseMs)];
    for (const limit of limits) values.push(kindOf(limit), `${limit.limit}`, `${limit.windowMs}`);
    const askedAt = monotonic();
    let reply;
    try {
      // In front, in the same batch.
      if (isLate()) renew().catch(() => {});
      if (unreportedWindows.size > 0 || departures.size > 0) report(Infinity).catch(() => {});
      reply = await ask('admit', limits.map(keyOf), values);
    } catch {
      const decision = admitAlone(request);
      // Redis may have granted slots nevertheless.
      if (!decision.admitted) leaveSlots(id, slotNames(limits));
      return decision;
    }
    if (reply[0] === 'admitted') {
      share.admissions.note(request);
      return admission;
    }
    const waits = reply.slice(1).map((microseconds) => Number(microseconds) / 1_000);
    denials.add(request, waits, askedAt);
    return {
      admitted: false,
      denied: limits[waits.findIndex((wait) => wait > 0)]!.name,
      retryAfterMs: Math.ceil(Math.max(...waits)),
    };
  };

  return {
    checkRates(request) {
      if (request.limits.length === 0) return admission;
      const closedDecision = closedFor(request);
      if (closedDecision !== null) return closedDecision;
      // What was full when Redis said so is full, whether or not it can be asked.
      return denials.of(request) ?? (isUp() ? admitInRedis(request) : admitAlone(request));
    },
    leave(id) {
      leaveSlots(id, share.admissions.leave(id));
    },
    async catchUp() {
      await renew();
      do await report(reportedAtOnce);
      // A little more comes all the time: it goes in front of what is asked next.
      while (unreportedWindows.size > reportedAtOnce || departures.size > reportedAtOnce);
    },
    renew,
    async close() {
      await Promise.all(leaving);
    },
  };
}

function kindOf({ limit, windowMs }: RateLimit): string {
  if (windowMs === 0) return 'slots';
  return limit > exactLimit ? 'parts' : 'exact';
}

function slotNames(limits: readonly RateLimit[]): string[] {
  return limits.filter(({ windowMs }) => windowMs === 0).map(({ name }) => name);
}
