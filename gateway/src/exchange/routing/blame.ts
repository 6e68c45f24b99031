import type { Route } from '#catalogue/index.ts';
import type { Classification } from '#vendors/index.ts';
import type { ChannelLease } from './channel-lease.ts';
import { breakerRules } from './breaker.ts';
import { isMissing, markMissing } from './channel-state.ts';
import { refuse } from './credential.ts';

/** A failed attempt at which another channel may succeed. */
export type Failover = Extract<Classification, { readonly kind: 'failover' }>;

/** Reports a change to the operator; the route's channel is the subject of the sentence. */
export type Say = (route: Route, message: string) => void;

/**
 * Applies a failure to what caused it: the channel, the credential or the model. If the channel is not the cause, the
 * attempt says nothing about it, and a probe is released.
 */
export function createBlame(say: Say) {
  function blameChannel(lease: ChannelLease, route: Route, now: number): void {
    const { state } = lease;
    if (!state.breaker.fail(lease, now) || state.failingSaid) return;
    state.failingSaid = true;
    say(
      route,
      `failed ${breakerRules.faultsToEject} times in a row: other channels are preferred until it responds again`,
    );
  }

  function blameCredential(
    { state, credential }: ChannelLease,
    route: Route,
    { code }: Failover,
    now: number,
  ): void {
    const wasRefused = credential.refusedUntil > now;
    const seconds = Math.round(refuse(credential, now) / 1000);
    const place = `${state.credentials.indexOf(credential) + 1} of ${state.credentials.length}`;
    const reason = code === undefined ? '' : ` (${code})`;
    if (!wasRefused)
      say(route, `rejects credential ${place}${reason}: not using it for ${seconds} s`);
  }

  function blameModel({ state }: ChannelLease, route: Route, now: number): void {
    if (!isMissing(state, route.upstreamModel, now)) {
      say(route, `does not serve '${route.upstreamModel}': other channels are preferred for it`);
    }
    markMissing(state, route.upstreamModel, now);
  }

  return function blame(lease: ChannelLease, route: Route, failure: Failover, now: number): void {
    const { state, credential } = lease;
    const until = now + (failure.coolDownSeconds ?? 0) * 1000;
    switch (failure.blame) {
      case 'channel':
        state.coolUntil = Math.max(state.coolUntil, until);
        blameChannel(lease, route, now);
        return;
      case 'quota':
        credential.coolUntil = Math.max(credential.coolUntil, until);
        break;
      case 'credential':
        blameCredential(lease, route, failure, now);
        break;
      case 'model':
        blameModel(lease, route, now);
        break;
      case 'none':
    }
    state.breaker.release(lease);
  };
}
