import type { Channel } from '#catalogue/index.ts';
import { Breaker } from './breaker.ts';
import { createCredential, type Credential } from './credential.ts';
import { RetryBudget } from './retry-budget.ts';
import { UsualTime } from './usual-time.ts';

/** A model that an upstream does not have is not asked for again so soon. */
const missingMs = 300_000;

/** What this node has seen of one upstream. */
export interface ChannelState {
  readonly baseUrl: string;
  readonly breaker: Breaker;
  readonly budget: RetryBudget;
  /** Until the first content of a stream, and until a whole answer. */
  readonly usualTime: { readonly stream: UsualTime; readonly buffered: UsualTime };
  /** Overloaded until then, whatever the credential. */
  coolUntil: number;
  /** Upstream model names that it did not have → until when that is believed. */
  readonly missing: Map<string, number>;
  credentials: readonly Credential[];
  /** The credential whose turn it is. */
  turn: number;
  /** That it is used in spite of its failing has been said. */
  keptSaid: boolean;
}

/**
 * The states of all channels. They outlive a change of the catalogue, which makes new channel objects: a channel is
 * the same one as long as it has its id and address, a credential as long as it is the same secret. So what the
 * operator mends by a change (an address, a refused key) starts afresh.
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
    missing: new Map(),
    credentials: [],
    turn: 0,
    keptSaid: false,
  };
}

function carryOver(known: readonly Credential[], channel: Channel): readonly Credential[] {
  const secrets = channel.credentials.length === 0 ? [null] : channel.credentials;
  return secrets.map(
    (secret) => known.find((each) => each.secret === secret) ?? createCredential(secret),
  );
}

/** The upstream said that it has no such model. */
export function markMissing(state: ChannelState, upstreamModel: string, now: number): void {
  state.missing.set(upstreamModel, now + missingMs);
}

export function isMissing(state: ChannelState, upstreamModel: string, now: number): boolean {
  // Asked for every request, and nearly always empty.
  if (state.missing.size === 0) return false;
  const until = state.missing.get(upstreamModel);
  if (until === undefined) return false;
  if (until > now) return true;
  state.missing.delete(upstreamModel);
  return false;
}
