import type { Channel, Route } from '#catalogue/index.ts';
import { refusals, type ChannelLease, type Refusal, type RefusalReason } from './channel-lease.ts';
import { createBlame, type Failover, type Say } from './blame.ts';
import {
  createChannelStates,
  isMissing,
  readChannel,
  type ChannelReading,
  type ChannelState,
} from './channel-state.ts';
import {
  accept,
  chooseCredential,
  type Credential,
  isUsable,
  kindOfWait,
  shortestWaitOf,
} from './credential.ts';

/** What an attempt says about its channel. `undecided`: nothing, for example a client's own mistake. */
export type AttemptResult = 'answered' | 'undecided' | Failover;

export interface HealthNotice {
  /** The channel's name. */
  readonly channel: string;
  /** For the operator; begins with a verb whose subject is the channel. */
  readonly message: string;
}

/**
 * Which channels, credentials and models are usable, as this node has observed them. In memory only. All times are
 * milliseconds of a monotonic clock.
 */
export interface ChannelHealth {
  /**
   * @param retry another channel has already been tried for this request
   * @param preferredIndex the index of a preferred credential, taken if usable; -1: the next in turn
   * @param mayFailOver another attempt can follow if this one fails, so it may probe a credential
   */
  lease(
    route: Route,
    retry: boolean,
    mayFailOver: boolean,
    now: number,
    preferredIndex?: number,
  ): ChannelLease | Refusal;
  /**
   * For a request that no channel was admitted for: an ejected channel, or one without the model, is better than none.
   * Chooses the one with the fewest consecutive ejections, among these the one ejected last.
   */
  admitAnyway(routes: readonly Route[], now: number): LastResort | null;
  /** The first content of a response arrived. */
  reportBegin(lease: ChannelLease, route: Route, now: number): void;
  reportOutcome(lease: ChannelLease, route: Route, result: AttemptResult, now: number): void;
  /**
   * Records how long the channel took, for `usualTime`: to the first content of a stream, or to a complete response.
   */
  took(lease: ChannelLease, kind: 'stream' | 'buffered', milliseconds: number): void;
  /** How long the channel usually takes, in milliseconds; 0 while unknown. */
  usualTime(route: Route, kind: 'stream' | 'buffered'): number;
  /** Milliseconds until the channel can be tried again; 0 as soon as one of its credentials is usable. */
  waitOf(route: Route, now: number): number;
  /** Why a first attempt would not be admitted; null: it would. Changes nothing. */
  refusalOf(route: Route, now: number): RefusalReason | null;
  /** The route that `admitAnyway` would choose. Changes nothing. */
  lastResort(routes: readonly Route[], now: number): Route | null;
  read(channel: Channel, now: number): ChannelReading;
}

export interface LastResort {
  readonly route: Route;
  readonly lease: ChannelLease;
}

/** @param onNotice receives changes that matter to an operator; never once per request */
export function createChannelHealth(onNotice: (notice: HealthNotice) => void): ChannelHealth {
  const stateOf = createChannelStates();
  const say: Say = (route, message) => onNotice({ channel: route.channel.name, message });
  const blame = createBlame(say);

  function sayWell(state: ChannelState, route: Route): void {
    state.keptSaid = false;
    if (!state.failingSaid) return;
    state.failingSaid = false;
    say(route, 'responds again');
  }

  return {
    lease(route, retry, mayFailOver, now, preferredIndex = -1) {
      const state = stateOf(route.channel);
      const refusal = refusalOfChannel(state, route, now);
      if (refusal !== null) return refusal;
      const standing = state.breaker.standing(now);
      const preferredCredential = state.credentials[preferredIndex];
      const index =
        preferredCredential !== undefined && isUsable(preferredCredential, now)
          ? preferredIndex
          : chooseCredential(state.credentials, state.turn, mayFailOver, now);
      if (index === -1) return refusals[kindOfWait(state.credentials, now)];
      if (retry && !state.budget.allows) return refusals.outOfBudget;
      return enter(state, index, standing === 'probe-due', retry);
    },

    admitAnyway(routes, now) {
      const best = chooseLastResort(routes, stateOf, now);
      if (best === null) return null;
      const state = stateOf(best.channel);
      const index = chooseCredential(state.credentials, state.turn, false, now);
      if (state.breaker.standing(now) !== 'in-use' && !state.keptSaid) {
        state.keptSaid = true;
        say(best, `is failing but stays in use: no other channel serves '${best.upstreamModel}'`);
      }
      return { route: best, lease: enter(state, index, false, false) };
    },

    reportBegin(lease, route, now) {
      if (lease.trial) accept(lease.credential);
      lease.state.breaker.begin(lease, now);
    },

    reportOutcome(lease, route, result, now) {
      const { state, credential } = lease;
      if (lease.trial) credential.probing = false;
      if (result === 'undecided') {
        state.budget.leave(lease.retry, null);
        state.breaker.release(lease);
      } else if (result === 'answered') {
        state.budget.leave(lease.retry, false);
        // A response that began before the refusal does not revoke it.
        if (lease.trial) accept(credential);
        if (state.missingModels.size > 0) state.missingModels.delete(route.upstreamModel);
        state.breaker.succeed(lease, now);
        // A response that has only begun is not reported: it may break, as those before it did.
        const isSaid = state.failingSaid || state.keptSaid;
        if (isSaid && state.breaker.standing(now) === 'in-use') sayWell(state, route);
      } else {
        // More or fewer retries would not change the failure of a credential or a model.
        const isOfChannel = result.blame === 'channel' || result.blame === 'none';
        state.budget.leave(lease.retry, isOfChannel ? true : null);
        blame(lease, route, result, now);
      }
    },

    took(lease, kind, milliseconds) {
      lease.state.usualTime[kind].saw(milliseconds);
    },

    usualTime(route, kind) {
      return stateOf(route.channel).usualTime[kind].milliseconds ?? 0;
    },

    waitOf(route, now) {
      const state = stateOf(route.channel);
      return Math.max(shortestWaitOf(state.credentials, now), state.coolUntil - now, 0);
    },

    refusalOf(route, now) {
      const state = stateOf(route.channel);
      const refusal = refusalOfChannel(state, route, now);
      if (refusal !== null) return refusal.reason;
      const index = chooseCredential(state.credentials, state.turn, false, now);
      return index === -1 ? refusals[kindOfWait(state.credentials, now)].reason : null;
    },

    lastResort: (routes, now) => chooseLastResort(routes, stateOf, now),

    read: (channel, now) => readChannel(channel.name, stateOf(channel), now),
  };
}

/** Why the channel as a whole is passed over; null: its credentials decide. */
function refusalOfChannel(state: ChannelState, route: Route, now: number): Refusal | null {
  if (state.coolUntil > now) return refusals.overloaded;
  // Nearly always empty.
  if (state.missingModels.size > 0 && isMissing(state, route.upstreamModel, now)) {
    return refusals['model-missing'];
  }
  return state.breaker.standing(now) === 'ejected' ? refusals.abnormal : null;
}

/**
 * The best route when none is admitted as usual: one with the model, then the one with the fewest consecutive
 * ejections, then the one ejected last. Null if all are cooling down or have no usable credential.
 */
function chooseLastResort(
  routes: readonly Route[],
  stateOf: (channel: Channel) => ChannelState,
  now: number,
): Route | null {
  let best: Route | null = null;
  for (const route of routes) {
    const state = stateOf(route.channel);
    const usable =
      state.coolUntil <= now && chooseCredential(state.credentials, 0, true, now) !== -1;
    if (usable && (best === null || compare(route, best) < 0)) best = route;
  }
  return best;

  /** Sorts the better one first. */
  function compare(one: Route, other: Route): number {
    const [a, b] = [stateOf(one.channel), stateOf(other.channel)];
    return (
      Number(isMissing(a, one.upstreamModel, now)) -
        Number(isMissing(b, other.upstreamModel, now)) ||
      a.breaker.ejections - b.breaker.ejections ||
      b.breaker.ejectedAt - a.breaker.ejectedAt
    );
  }
}

/** One frozen object per healthy credential, shared by all its attempts, which need no state of their own. */
const plain = new WeakMap<Credential, ChannelLease>();

/**
 * Admits one attempt with the credential at this index; the next credential's turn follows.
 * @param probe the attempt tests, for all others, whether an ejected channel works again
 * @param retry another channel has already been tried for this request
 */
function enter(state: ChannelState, index: number, probe: boolean, retry: boolean): ChannelLease {
  const credential = state.credentials[index]!;
  const { breaker } = state;
  state.turn = index + 1 === state.credentials.length ? 0 : index + 1;
  state.budget.enter(retry);
  if (probe) breaker.beginProbe();
  const trial = credential.refusals > 0;
  if (trial) credential.probing = true;
  const ordinary = !probe && !retry && !trial;
  const sharedLease = ordinary ? plain.get(credential) : undefined;
  if (sharedLease?.generation === breaker.generation) return sharedLease;
  const lease: ChannelLease = Object.freeze({
    admitted: true,
    secret: credential.secret,
    generation: breaker.generation,
    probe,
    retry,
    trial,
    credential,
    state,
  });
  if (ordinary) plain.set(credential, lease);
  return lease;
}
