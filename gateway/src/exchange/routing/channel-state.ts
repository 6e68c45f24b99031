import type { Channel } from '#catalogue/index.ts';
import { Breaker } from './breaker.ts';
import { createCredential, type Credential, shortestWaitOf } from './credential.ts';
import { RetryBudget } from './retry-budget.ts';

/** How long an upstream is not asked again for a model that it does not have. */
const missingMs = 300_000;

/** What this node has observed of one upstream. */
export interface ChannelState {
  readonly baseUrl: string;
  readonly breaker: Breaker;
  readonly budget: RetryBudget;
  /** Time to the first content of a stream, and to a complete response. */
  readonly usualTime: { readonly stream: UsualTime; readonly buffered: UsualTime };
  /** The channel is overloaded until then, whatever the credential. */
  coolUntil: number;
  /** Upstream model names that the channel did not have → until when that is assumed. */
  readonly missingModels: Map<string, number>;
  credentials: readonly Credential[];
  /** The index of the next credential. */
  turn: number;
  /** Whether the log has reported that the channel fails, and not yet that it responds again. */
  failingSaid: boolean;
  /** Whether the log has reported that the failing channel stays in use. */
  keptSaid: boolean;
}

/**
 * The states of all channels. They outlive a change of the catalogue, which creates new channel objects: a channel is
 * the same as long as its id and address are, a credential as long as its secret is. So whatever the operator repairs
 * (an address, a refused key) starts with a clean state.
 */
export function createChannelStates(): (channel: Channel) => ChannelState {
  const byId = new Map<string, ChannelState>();
  const byChannel = new WeakMap<Channel, ChannelState>();

  return function stateOf(channel) {
    let state = byChannel.get(channel);
    if (state !== undefined) return state;
    state = byId.get(channel.id);
    if (state === undefined || state.baseUrl !== channel.baseUrl) {
      byId.set(channel.id, (state = createState(channel)));
    }
    state.credentials = carryOver(state.credentials, channel);
    byChannel.set(channel, state);
    return state;
  };
}

function createState(channel: Channel): ChannelState {
  return {
    baseUrl: channel.baseUrl,
    breaker: new Breaker(),
    budget: new RetryBudget(),
    usualTime: { stream: new UsualTime(), buffered: new UsualTime() },
    coolUntil: 0,
    missingModels: new Map(),
    credentials: [],
    turn: 0,
    failingSaid: false,
    keptSaid: false,
  };
}

function carryOver(
  knownCredentials: readonly Credential[],
  channel: Channel,
): readonly Credential[] {
  const secrets = channel.credentials.length === 0 ? [null] : channel.credentials;
  return secrets.map(
    (secret) => knownCredentials.find((each) => each.secret === secret) ?? createCredential(secret),
  );
}

/** Records that the upstream does not have this model. */
export function markMissing(state: ChannelState, upstreamModel: string, now: number): void {
  state.missingModels.set(upstreamModel, now + missingMs);
}

export function isMissing(state: ChannelState, upstreamModel: string, now: number): boolean {
  const until = state.missingModels.get(upstreamModel);
  if (until === undefined) return false;
  if (until > now) return true;
  state.missingModels.delete(upstreamModel);
  return false;
}

/** The fraction by which each observation moves the estimate. */
const step = 0.05;

/**
 * Tracks the median of a channel's times without storing them: a longer time moves the estimate up a little, a shorter
 * one down, so it settles where both are equally frequent.
 */
export class UsualTime {
  /** Null before the first observation. */
  milliseconds: number | null = null;

  saw(milliseconds: number): void {
    if (this.milliseconds === null) {
      this.milliseconds = milliseconds;
      return;
    }
    const distance = Math.max(1, this.milliseconds * step);
    const change = milliseconds - this.milliseconds;
    // Never moves past the observation itself, or equal times would make it oscillate.
    this.milliseconds += Math.sign(change) * Math.min(distance, Math.abs(change));
  }
}

/** How a credential is: usable, cooling down, or refused by the upstream. */
export type CredentialState = 'ready' | 'cooling' | 'disabled';

/** The state of one channel. */
export interface ChannelReading {
  readonly channel: string;
  /** `closed`: used as usual. `open`: avoided while there are others. `half-open`: one request at a time probes it. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** How many credentials are in each state. */
  readonly credentials: Readonly<Record<CredentialState, number>>;
  /** The state of each, in the channel's order. */
  readonly states: readonly CredentialState[];
  /** Milliseconds until a request may try it again; 0: now. */
  readonly rest: number;
}

/** @param channel the channel's name */
export function readChannel(channel: string, state: ChannelState, now: number): ChannelReading {
  const { breaker, credentials, coolUntil } = state;
  const counts = { ready: 0, cooling: 0, disabled: 0 };
  const states = credentials.map((credential): CredentialState => {
    if (credential.refusals > 0) return 'disabled';
    return Math.max(credential.coolUntil, coolUntil) > now ? 'cooling' : 'ready';
  });
  for (const each of states) counts[each] += 1;
  const breakerState = breaker.until > now ? 'open' : 'half-open';
  const inUse = breaker.standing(now) === 'in-use';
  const rest = Math.max(
    inUse ? 0 : breaker.until - now,
    coolUntil - now,
    shortestWaitOf(credentials, now),
    0,
  );
  return { channel, breaker: inUse ? 'closed' : breakerState, credentials: counts, states, rest };
}
