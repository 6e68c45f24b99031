import type { Channel, Route } from '../catalogue/index.ts';
import type { Classification } from '../providers/index.ts';
import { breakerRules, type Leave } from './breaker.ts';
import { createChannelStates, isMissing, markMissing, type ChannelState } from './channel-state.ts';
import {
  accept,
  chooseCredential,
  kindOfWait,
  refuse,
  waitOf,
  type Credential,
} from './credential.ts';
import type { FailureKind } from './failure-kind.ts';

/** Leave for one attempt, with one credential. To be given back by `settle`, once, whatever happens. */
export interface Admission extends Leave {
  readonly admitted: true;
  readonly secret: string | null;
  readonly retry: boolean;
  /** Finds out whether the credential, once refused, is good again. */
  readonly trial: boolean;
  readonly credential: Credential;
  readonly state: ChannelState;
}

/** Why a channel is passed over. Null: nothing is wrong with it, too many second tries are under way there. */
export interface Refusal {
  readonly admitted: false;
  readonly kind: FailureKind | null;
}

/** What an attempt says about its channel. `undecided`: nothing, such as a client's own mistake. */
export type AttemptResult =
  | 'answered'
  | 'undecided'
  | Extract<Classification, { readonly kind: 'failover' }>;

export interface HealthNotice {
  /** Its name. */
  readonly channel: string;
  /** For the operator; begins with a verb, the channel being its subject. */
  readonly message: string;
}

/**
 * Which channels, credentials and models may be used now, as this node has seen it. In memory only. All times are
 * milliseconds of a clock that never steps.
 */
export interface ChannelHealth {
  /**
   * @param retry another channel has already been tried for this request.
   * @param mayFailOver if this attempt fails another one can follow, so it may be spent on trying out a credential.
   */
  admit(route: Route, retry: boolean, mayFailOver: boolean, now: number): Admission | Refusal;
  /**
   * For a request that no channel was admitted for: an ejected channel, or one said not to have the model, is better
   * than none at all. The one with the fewest ejections in a row, of these the one ejected last.
   */
  admitAnyway(routes: readonly Route[], now: number): LastResort | null;
  /** The first content of an answer has come. */
  begun(admission: Admission, route: Route, now: number): void;
  settle(admission: Admission, route: Route, result: AttemptResult, now: number): void;
  /** How long the channel took, for `usualTime`: to the first content of a stream, to a whole answer. */
  took(admission: Admission, kind: 'stream' | 'buffered', milliseconds: number): void;
  /** How long it usually takes, in milliseconds; 0 while that is not known. */
  usualTime(route: Route, kind: 'stream' | 'buffered'): number;
  /** Milliseconds until the channel can be asked again; 0 as soon as one of its credentials is usable. */
  waitOf(route: Route, now: number): number;
  read(channel: Channel, now: number): ChannelReading;
}

/** How one channel is. */
export interface ChannelReading {
  readonly channel: string;
  /** `closed`: used as usual. `open`: left out while there are others. `half-open`: one request at a time finds out. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** How many credentials may be used, wait for their cool-down to pass, or are refused by the upstream. */
  readonly credentials: Readonly<Record<'ready' | 'cooling' | 'disabled', number>>;
}

export interface LastResort {
  readonly route: Route;
  readonly admission: Admission;
}

const refusals = {
  abnormal: Object.freeze({ admitted: false, kind: 'abnormal' }),
  overloaded: Object.freeze({ admitted: false, kind: 'overloaded' }),
  'rate-limited': Object.freeze({ admitted: false, kind: 'rate-limited' }),
  'model-missing': Object.freeze({ admitted: false, kind: 'model-missing' }),
} satisfies Record<FailureKind, Refusal>;
const outOfBudget: Refusal = Object.freeze({ admitted: false, kind: null });

/** @param onNotice told of changes that an operator wants to know of; never once per request. */
export function createChannelHealth(onNotice: (notice: HealthNotice) => void): ChannelHealth {
  const stateOf = createChannelStates();
  // One frozen object per healthy credential, used by all of its attempts: they need nothing of their own.
  const plain = new WeakMap<Credential, Admission>();

  const say = (route: Route, message: string) => onNotice({ channel: route.channel.name, message });

  function enter(state: ChannelState, index: number, probe: boolean, retry: boolean): Admission {
    const credential = state.credentials[index]!;
    const { breaker } = state;
    state.turn = index + 1 === state.credentials.length ? 0 : index + 1;
    state.budget.enter(retry);
    if (probe) breaker.beginProbe();
    const trial = credential.refusals > 0;
    if (trial) credential.probing = true;
    const ordinary = !probe && !retry && !trial;
    const known = ordinary ? plain.get(credential) : undefined;
    if (known?.generation === breaker.generation) return known;
    const admission: Admission = Object.freeze({
      admitted: true,
      secret: credential.secret,
      generation: breaker.generation,
      probe,
      retry,
      trial,
      credential,
      state,
    });
    if (ordinary) plain.set(credential, admission);
    return admission;
  }

  function fault(admission: Admission, route: Route, now: number): void {
    const { breaker } = admission.state;
    if (!breaker.fail(admission, now)) return;
    const seconds = Math.round((breaker.until - now) / 1000);
    const why = admission.probe
      ? 'still fails'
      : `failed ${breakerRules.faultsToEject} times in a row`;
    say(route, `${why}: others are preferred for ${seconds} s`);
  }

  function cameBack(state: ChannelState, route: Route): void {
    state.keptSaid = false;
    say(route, 'answers again');
  }

  function failed(
    admission: Admission,
    route: Route,
    failure: Exclude<AttemptResult, string>,
    now: number,
  ): void {
    const { state, credential } = admission;
    const until = now + (failure.coolDownSeconds ?? 0) * 1000;
    switch (failure.blame) {
      case 'channel':
        state.coolUntil = Math.max(state.coolUntil, until);
        fault(admission, route, now);
        return;
      case 'quota':
        credential.coolUntil = Math.max(credential.coolUntil, until);
        break;
      case 'credential': {
        const known = credential.refusedUntil > now;
        const seconds = Math.round(refuse(credential, now) / 1000);
        const place = `${state.credentials.indexOf(credential) + 1} of ${state.credentials.length}`;
        if (!known) say(route, `refuses credential ${place}: it is not used for ${seconds} s`);
        break;
      }
      case 'model':
        if (!isMissing(state, route.upstreamModel, now)) {
          say(route, `does not serve '${route.upstreamModel}': others are preferred for it`);
        }
        markMissing(state, route.upstreamModel, now);
        break;
      case 'none':
    }
    state.breaker.release(admission);
  }

  /** For the last resort: the better one first. */
  function compare(one: Route, other: Route, now: number): number {
    const [a, b] = [stateOf(one.channel), stateOf(other.channel)];
    return (
      Number(isMissing(a, one.upstreamModel, now)) -
        Number(isMissing(b, other.upstreamModel, now)) ||
      a.breaker.ejections - b.breaker.ejections ||
      b.breaker.ejectedAt - a.breaker.ejectedAt
    );
  }

  return {
    admit(route, retry, mayFailOver, now) {
      const state = stateOf(route.channel);
      if (state.coolUntil > now) return refusals.overloaded;
      if (isMissing(state, route.upstreamModel, now)) return refusals['model-missing'];
      const standing = state.breaker.standing(now);
      if (standing === 'ejected') return refusals.abnormal;
      const index = chooseCredential(state.credentials, state.turn, mayFailOver, now);
      if (index === -1) return refusals[kindOfWait(state.credentials, now)];
      if (retry && !state.budget.allows) return outOfBudget;
      return enter(state, index, standing === 'probe-due', retry);
    },

    admitAnyway(routes, now) {
      let best: Route | null = null;
      for (const route of routes) {
        const state = stateOf(route.channel);
        const usable =
          state.coolUntil <= now && chooseCredential(state.credentials, 0, true, now) !== -1;
        if (usable && (best === null || compare(route, best, now) < 0)) best = route;
      }
      if (best === null) return null;
      const state = stateOf(best.channel);
      const index = chooseCredential(state.credentials, state.turn, false, now);
      if (state.breaker.standing(now) !== 'in-use' && !state.keptSaid) {
        state.keptSaid = true;
        say(best, `fails and is used all the same: nothing else serves '${best.upstreamModel}'`);
      }
      return { route: best, admission: enter(state, index, false, false) };
    },

    begun(admission, route, now) {
      if (admission.trial) accept(admission.credential);
      if (admission.state.breaker.begin(admission, now)) cameBack(admission.state, route);
    },

    settle(admission, route, result, now) {
      const { state, credential } = admission;
      state.budget.leave(admission.retry, hasFailed(result));
      if (admission.trial) credential.probing = false;
      if (result === 'undecided') {
        state.breaker.release(admission);
      } else if (result === 'answered') {
        // An answer that began before the refusal does not undo it.
        if (admission.trial) accept(credential);
        if (state.missing.size > 0) state.missing.delete(route.upstreamModel);
        if (state.breaker.succeed(admission, now)) cameBack(state, route);
      } else {
        failed(admission, route, result, now);
      }
    },

    took(admission, kind, milliseconds) {
      admission.state.usualTime[kind].saw(milliseconds);
    },

    usualTime(route, kind) {
      return stateOf(route.channel).usualTime[kind].milliseconds ?? 0;
    },

    waitOf(route, now) {
      const state = stateOf(route.channel);
      let shortest = Number.POSITIVE_INFINITY;
      for (const credential of state.credentials) {
        shortest = Math.min(shortest, waitOf(credential, now));
      }
      return Math.max(shortest, state.coolUntil - now, 0);
    },

    read(channel, now) {
      const { breaker, credentials, coolUntil } = stateOf(channel);
      const counts = { ready: 0, cooling: 0, disabled: 0 };
      for (const credential of credentials) {
        if (credential.refusals > 0) counts.disabled += 1;
        else if (Math.max(credential.coolUntil, coolUntil) > now) counts.cooling += 1;
        else counts.ready += 1;
      }
      const left = breaker.until > now ? 'open' : 'half-open';
      const inUse = breaker.standing(now) === 'in-use';
      return { channel: channel.name, breaker: inUse ? 'closed' : left, credentials: counts };
    },
  };
}

/** For the retry budget; null: nothing that more or fewer second tries would change. */
function hasFailed(result: AttemptResult): boolean | null {
  if (result === 'undecided') return null;
  if (result === 'answered') return false;
  return result.blame === 'channel' || result.blame === 'none' ? true : null;
}
