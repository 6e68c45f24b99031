import type {
  HoldDecision,
  HoldRequest,
  Meter,
  MeterState,
  RateDecision,
  RateRequest,
} from '../counters.ts';
import { type Admissions, createAdmissions } from '../memory/admissions.ts';
import { createMeters } from '../memory/meters.ts';

/** Meters whose last state is remembered. */
const mostKnown = 100_000;
/** Beyond this age, the database's total is preferred to what Redis last reported. Milliseconds. */
const freshMs = 60_000;

/** After this time a settlement has reached a healthy Redis, whose reports include it from then on. */
const deliveredAfterMs = 1_000;

/**
 * What this node may do alone while Redis is lost: its share of every rate, and of the money left by the last known
 * state. Together the nodes stay within the limits as long as `liveNodes` is right.
 */
export interface Share {
  /** The admissions of this node, including those that Redis decided: they count against the share from the start. */
  readonly admissions: Admissions;
  checkRates(request: RateRequest): RateDecision;
  /** `remaining`: milliseconds until the hold expires. */
  hold(request: HoldRequest, remaining: number): HoldDecision | Promise<HoldDecision>;
  /** Ends a hold of this outage; other holds do not count here. */
  commitHold(id: string, spent: bigint): void;
  /** Records a state that Redis reported. */
  learn(meter: string, state: MeterState): void;
  known(meter: string): MeterState | null;
  /** Call it when Redis has just been lost: shares are computed from the state known at this point. */
  begin(): void;
}

export interface ShareOptions {
  readonly monotonic: () => number;
  /** Live nodes, including this one. */
  readonly liveNodes: () => number;
  readonly lookUp: (meters: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;
}

/** Counts from the start; decides from `begin` on. */
export function createShare({ monotonic, liveNodes, lookUp }: ShareOptions): Share {
  const admissions = createAdmissions(monotonic);
  const known = new Map<string, MeterState & { readonly at: number }>();
  /** Amounts spent and held when this outage began. */
  let taken = new Map<string, bigint>();
  let meters = createMeters({ monotonic });

  const nodes = (): number => Math.max(1, Math.floor(liveNodes()));

  const take = (meter: string, amount: bigint): void => {
    taken.set(meter, amount);
    meters.preload(meter, 0n);
  };

  const shareOf = ({ name, limit, floor }: Meter, among: bigint): Meter => {
    const left = limit - taken.get(name)!;
    const enough = left >= floor && left > 0n;
    return { name, limit: enough ? left / among : 0n, floor: (floor + among - 1n) / among };
  };

  const holdNow = (request: HoldRequest, remaining: number): HoldDecision => {
    const among = BigInt(nodes());
    const shares = request.meters.map((meter) => shareOf(meter, among));
    return meters.hold({ ...request, meters: shares }, remaining);
  };

  const holdLater = async (
    request: HoldRequest,
    remaining: number,
    unknown: readonly string[],
  ): Promise<HoldDecision> => {
    const fromDatabase = await lookUp(unknown).catch((error: unknown) => {
      // If the database is unreachable too, an old state is better than none.
      if (unknown.every((meter) => known.has(meter))) return new Map<string, bigint>();
      throw error;
    });
    for (const meter of unknown) {
      const old = known.get(meter)?.spent ?? 0n;
      const spent = fromDatabase.get(meter) ?? 0n;
      if (!taken.has(meter)) take(meter, spent > old ? spent : old);
    }
    return hold(request, remaining);
  };

  const hold: Share['hold'] = (request, remaining) => {
    const unknown: string[] = [];
    for (const { name } of request.meters) {
      const state = known.get(name);
      if (taken.has(name)) meters.preload(name, 0n);
      else if (state === undefined || monotonic() - state.at > freshMs) unknown.push(name);
      else take(name, state.spent + state.held);
    }
    return unknown.length > 0
      ? holdLater(request, remaining, unknown)
      : holdNow(request, remaining);
  };

  return {
    admissions,
    checkRates({ id, limits }) {
      const among = nodes();
      return admissions.checkRates({
        id,
        limits: limits.map((limit) => ({ ...limit, limit: shareOfRate(limit.limit, among) })),
      });
    },
    hold,
    commitHold: (id, spent) => meters.commitHold(id, [], spent),
    learn(meter, state) {
      // Redis is back: if it fails again, the share is computed anew.
      taken.delete(meter);
      meters.forget(meter, deliveredAfterMs);
      known.delete(meter);
      if (known.size >= mostKnown) known.delete(known.keys().next().value!);
      known.set(meter, { ...state, at: monotonic() });
    },
    known(meter) {
      const state = known.get(meter);
      return state === undefined ? null : { spent: state.spent, held: state.held };
    },
    begin() {
      taken = new Map();
      meters = createMeters({ monotonic });
    },
  };
}

/** At least one, so that a small limit does not lock everybody out; 0 stays 0. */
function shareOfRate(limit: number, nodes: number): number {
  return limit === 0 ? 0 : Math.max(1, Math.floor(limit / nodes));
}
