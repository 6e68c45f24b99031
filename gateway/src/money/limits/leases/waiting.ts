import { GatewayError } from '#errors/index.ts';
import type { Command, Outcome, Want } from '#leases/index.ts';
import type { HoldDecision, HoldRequest } from '../money.ts';
import type { Refusals } from './refusals.ts';

/** How many requests of one payer go before those of the next one. */
const requestsPerTurn = 8;

interface Waiting {
  want: Want;
  readonly request: HoldRequest;
  /** Milliseconds of the monotonic clock. */
  since: number;
  dueAt: number;
  /** When the other nodes were asked for it. */
  calledAt: number;
  readonly decision: PromiseWithResolvers<HoldDecision>;
}

/** The requests that wait for a command, in the order in which they came. */
export interface WaitingRequests {
  readonly isEmpty: boolean;
  add(want: Want, request: HoldRequest): Promise<HoldDecision>;
  /** Those to name in the next command. */
  dueWants(): readonly Want[];
  /** When the first one is due, by the monotonic clock; Infinity if none waits. */
  readonly nextDue: number;
  /** Makes those due that wait for this meter; without a name, all. */
  hurry(meter?: string): void;
  /** Those that need no command any more go on. */
  tryAll(take: (want: Want, request: HoldRequest) => HoldDecision | null): void;
  /** Carries out what a command has decided. */
  decide(
    command: Command,
    outcomes: ReadonlyMap<string, Outcome>,
    openHold: (request: HoldRequest, amount: bigint) => HoldDecision,
  ): void;
  /** The wait of all of them begins anew: nobody could decide. */
  waitAnew(): void;
  /** @param meters those of the requests; without them, all requests */
  reject(error: GatewayError, meters?: ReadonlySet<string>): void;
}

export interface WaitingOptions {
  readonly refusals: Refusals;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  readonly rules: {
    /** How long the other nodes may take to give back what is idle. */
    readonly patienceMs: number;
    /** The longest wait, behind others whose turn comes first. */
    readonly longestMs: number;
    /** A request asks again after this time, if no notification comes. */
    readonly askAgainMs: number;
    readonly wantsPerCommand: number;
  };
}

/** It cannot be decided now whether there is money. */
export function unavailable(cause?: unknown): GatewayError {
  return new GatewayError('unavailable', { retryAfter: 1, cause });
}

export function createWaiting(options: WaitingOptions): WaitingRequests {
  const { refusals, monotonic, rules } = options;
  let waiting: Waiting[] = [];

  /** @returns whether it still waits */
  const decideOne = (
    one: Waiting,
    outcome: Outcome,
    openHold: (request: HoldRequest, amount: bigint) => HoldDecision,
  ): boolean => {
    const time = monotonic();
    // Its turn comes at once, unless it has waited for too long.
    if (outcome.kind === 'left' && time - one.since < rules.longestMs) return true;
    if (outcome.kind === 'waits') {
      if (outcome.isFirst && one.calledAt === Infinity) one.calledAt = time;
      const isLast = time - one.calledAt >= rules.patienceMs || time - one.since >= rules.longestMs;
      one.want = { ...one.want, isLast };
      one.dueAt = isLast ? time : time + rules.askAgainMs;
      return true;
    }
    if (outcome.kind === 'granted') {
      one.decision.resolve(openHold(one.request, outcome.amount));
    } else if (outcome.kind === 'refused') {
      // What was too little for an exact hold may be enough for another one.
      if (!one.want.isExact || outcome.least === 0n) refusals.add(one.request, outcome);
      one.decision.resolve({ isHeld: false, denied: outcome.meter });
    } else one.decision.reject(unavailable());
    return false;
  };

  return {
    get isEmpty() {
      return waiting.length === 0;
    },
    add(want, request) {
      const decision = Promise.withResolvers<HoldDecision>();
      const since = monotonic();
      waiting.push({ want, request, since, dueAt: -Infinity, calledAt: Infinity, decision });
      return decision.promise;
    },
    dueWants() {
      const time = monotonic();
      const wants = waiting.filter(({ dueAt }) => dueAt <= time).map(({ want }) => want);
      return wants.length <= rules.wantsPerCommand ? wants : inTurn(wants, rules.wantsPerCommand);
    },
    get nextDue() {
      return Math.min(...waiting.map(({ dueAt }) => dueAt));
    },
    hurry(meter) {
      for (const one of waiting) {
        const concerns = meter === undefined || one.want.meters.some(({ name }) => name === meter);
        if (concerns) one.dueAt = -Infinity;
      }
    },
    tryAll(take) {
      waiting = waiting.filter(({ want, request, decision }) => {
        const immediate = take(want, request);
        if (immediate !== null) decision.resolve(immediate);
        return immediate === null;
      });
    },
    decide({ wants }, outcomes, openHold) {
      const askedIds = new Set(wants.map(({ id }) => id));
      waiting = waiting.filter(
        (one) => !askedIds.has(one.want.id) || decideOne(one, outcomes.get(one.want.id)!, openHold),
      );
      // What was refused to one is refused to all who want as much.
      waiting = waiting.filter(({ request, decision }) => {
        const deniedMeter = refusals.of(request);
        if (deniedMeter !== null) decision.resolve({ isHeld: false, denied: deniedMeter });
        return deniedMeter === null;
      });
    },
    waitAnew() {
      for (const one of waiting) one.since = monotonic();
    },
    reject(error, meters) {
      waiting = waiting.filter(({ want, decision }) => {
        const concerns = meters === undefined || want.meters.some(({ name }) => meters.has(name));
        if (concerns) decision.reject(error);
        return !concerns;
      });
    },
  };
}

/** Some of each payer in turn: many requests for one balance must not keep those for others waiting. */
function inTurn(wants: readonly Want[], most: number): readonly Want[] {
  const turns: Want[][] = [];
  const counts = new Map<string, number>();
  for (const want of wants) {
    const payer = want.meters[0]!.name;
    const before = counts.get(payer) ?? 0;
    counts.set(payer, before + 1);
    (turns[Math.floor(before / requestsPerTurn)] ??= []).push(want);
  }
  return turns.flat().slice(0, most);
}
