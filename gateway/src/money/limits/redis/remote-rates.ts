import type { RateDecision, RateLimit, RateRequest } from '../rates.ts';
import { closedFor } from '../closed-for.ts';
import { exactLimit } from '../memory/sliding-window.ts';
import type { Denials } from './denials.ts';
import type { Ask } from './ask.ts';
import type { Share } from './share.ts';

/** A slot expires after this time unless its node renews it. Milliseconds. */
const slotLeaseMs = 60_000;
export const renewEveryMs = 20_000;
const idsPerRenewal = 500;
/** Requests that left while Redis was unreachable. Beyond this number, slots end with their lease. */
const mostLeft = 100_000;

const admitted: RateDecision = Object.freeze({ admitted: true });

export interface RemoteRates {
  checkRates(request: RateRequest): RateDecision | Promise<RateDecision>;
  leave(id: string): void;
  /** Renews or releases every slot of this node. */
  renew(ask: Ask): Promise<void>;
  /** Waits until Redis has heard of the requests that have left. */
  close(): Promise<void>;
}

export interface RemoteRatesOptions {
  readonly ask: Ask;
  readonly isUp: () => boolean;
  /** The prefix of every key. */
  readonly prefix: string;
  readonly share: Share;
  readonly denials: Denials;
  readonly monotonic: () => number;
}

/** Rates and concurrency in Redis; in this node's share while Redis is lost. */
export function createRemoteRates({
  ask,
  isUp,
  prefix,
  share,
  denials,
  monotonic,
}: RemoteRatesOptions): RemoteRates {
  const left = new Map<string, readonly string[]>();
  const leaving = new Set<Promise<void>>();
  const slotsKey = (name: string): string => `${prefix}slots:${name}`;
  const keyOf = ({ name, windowMs }: RateLimit): string =>
    windowMs === 0 ? slotsKey(name) : `${prefix}times:${name}`;

  const leaveSlots = (id: string, names: readonly string[]): void => {
    if (names.length === 0) return;
    if (!isUp()) {
      keepLeft(id, names);
      return;
    }
    const told = tellLeft(id, names, ask).catch(() => keepLeft(id, names));
    leaving.add(told);
    void told.then(() => leaving.delete(told));
  };

  const tellLeft = async (id: string, names: readonly string[], ask: Ask): Promise<void> => {
    await ask('leave', names.map(slotsKey), [id]);
    left.delete(id);
  };

  const keepLeft = (id: string, names: readonly string[]): void => {
    if (left.size < mostLeft) left.set(id, names);
  };

  const tellAllLeft = async (ask: Ask): Promise<void> => {
    const told = [...left];
    for (let at = 0; at < told.length; at += idsPerRenewal) {
      const some = told.slice(at, at + idsPerRenewal);
      await Promise.all(some.map(([id, names]) => tellLeft(id, names, ask)));
    }
  };

  const admitInShare = (request: RateRequest): RateDecision => {
    const decision = share.checkRates(request);
    // Redis may have granted slots before it failed.
    if (!decision.admitted) leaveSlots(request.id, slotNames(request.limits));
    return decision;
  };

  const admitInRedis = async (request: RateRequest): Promise<RateDecision> => {
    const { id, limits } = request;
    const values = [id, String(slotLeaseMs)];
    for (const limit of limits) values.push(kindOf(limit), `${limit.limit}`, `${limit.windowMs}`);
    const asked = monotonic();
    let reply;
    try {
      reply = await ask('admit', limits.map(keyOf), values);
    } catch {
      // The link counts failures, and logs when it gives up.
      return admitInShare(request);
    }
    if (reply[0] === 'admitted') {
      share.admissions.note(request);
      return admitted;
    }
    const waits = reply.slice(1).map((microseconds) => Number(microseconds) / 1_000);
    denials.add(request, waits, asked);
    return {
      admitted: false,
      denied: limits[waits.findIndex((wait) => wait > 0)]!.name,
      retryAfterMs: Math.ceil(Math.max(...waits)),
    };
  };

  return {
    checkRates(request) {
      if (request.limits.length === 0) return admitted;
      const closed = closedFor(request);
      if (closed !== null) return closed;
      if (!isUp()) return share.checkRates(request);
      return denials.of(request) ?? admitInRedis(request);
    },
    leave(id) {
      leaveSlots(id, share.admissions.leave(id));
    },
    async renew(ask) {
      await tellAllLeft(ask);
      const idsBySlot = new Map<string, string[]>();
      for (const [id, names] of share.admissions.slots()) {
        for (const name of names) {
          const ids = idsBySlot.get(name);
          if (ids === undefined) idsBySlot.set(name, [id]);
          else ids.push(id);
        }
      }
      for (const [name, ids] of idsBySlot) {
        for (let at = 0; at < ids.length; at += idsPerRenewal) {
          // Requests that left since the last reply must not be renewed: their slots would stay for a minute.
          const some = ids.slice(at, at + idsPerRenewal).filter(share.admissions.isUnderWay);
          if (some.length === 0) continue;
          await ask('renew', [slotsKey(name)], [String(slotLeaseMs), ...some]);
        }
      }
    },
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
