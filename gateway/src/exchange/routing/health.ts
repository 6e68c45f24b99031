import type { Channel, Route } from '#catalogue/index.ts';
import { enter, outOfBudget, refusals, type Admission, type Refusal } from './admission.ts';
import { createBlame, type Failover, type Say } from './blame.ts';
import { readChannel, type ChannelReading } from './channel-reading.ts';
import { createChannelStates, isMissing, type ChannelState } from './channel-state.ts';
import { accept, chooseCredential, isUsable, kindOfWait, shortestWaitOf } from './credential.ts';
import { chooseLastResort } from './last-resort.ts';

/** What an attempt says about its channel. `undecided`: nothing, such as a client's own mistake. */
export type AttemptResult = 'answered' | 'undecided' | Failover;

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
   * @param wanted which of the channel's credentials to take, if it can be used; -1: the one whose turn it is.
   * @param mayFailOver if this attempt fails another one can follow, so it may be spent on trying out a credential.
   */
  admit(
    route: Route,
    retry: boolean,
    mayFailOver: boolean,
    now: number,
    wanted?: number,
  ): Admission | Refusal;
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

export interface LastResort {
  readonly route: Route;
  readonly admission: Admission;
}

/** @param onNotice told of changes that an operator wants to know of; never once per request. */
export function createChannelHealth(onNotice: (notice: HealthNotice) => void): ChannelHealth {
  const stateOf = createChannelStates();
  const say: Say = (route, message) => onNotice({ channel: route.channel.name, message });
  const blame = createBlame(say);

  function cameBack(state: ChannelState, route: Route): void {
    state.keptSaid = false;
    say(route, 'responds again');
  }

  return {
    admit(route, retry, mayFailOver, now, wanted = -1) {
      const state = stateOf(route.channel);
      if (state.coolUntil > now) return refusals.overloaded;
      if (isMissing(state, route.upstreamModel, now)) return refusals['model-missing'];
      const standing = state.breaker.standing(now);
      if (standing === 'ejected') return refusals.abnormal;
      const asked = state.credentials[wanted];
      const index =
        asked !== undefined && isUsable(asked, now)
          ? wanted
          : chooseCredential(state.credentials, state.turn, mayFailOver, now);
      if (index === -1) return refusals[kindOfWait(state.credentials, now)];
      if (retry && !state.budget.allows) return outOfBudget;
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
        blame(admission, route, result, now);
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
      return Math.max(shortestWaitOf(state.credentials, now), state.coolUntil - now, 0);
    },

    read: (channel, now) => readChannel(channel.name, stateOf(channel), now),
  };
}

/** For the retry budget; null: nothing that more or fewer second tries would change. */
function hasFailed(result: AttemptResult): boolean | null {
  if (result === 'undecided') return null;
  if (result === 'answered') return false;
  return result.blame === 'channel' || result.blame === 'none' ? true : null;
}
