import type { ChannelState } from './channel-state.ts';

/** The state of one channel. */
export interface ChannelReading {
  readonly channel: string;
  /** `closed`: used as usual. `open`: avoided while there are others. `half-open`: one request at a time probes it. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** How many credentials are usable, are cooling down, or were refused by the upstream. */
  readonly credentials: Readonly<Record<'ready' | 'cooling' | 'disabled', number>>;
}

/** @param channel the channel's name */
export function readChannel(channel: string, state: ChannelState, now: number): ChannelReading {
  const { breaker, credentials, coolUntil } = state;
  const counts = { ready: 0, cooling: 0, disabled: 0 };
  for (const credential of credentials) {
    if (credential.refusals > 0) counts.disabled += 1;
    else if (Math.max(credential.coolUntil, coolUntil) > now) counts.cooling += 1;
    else counts.ready += 1;
  }
  const left = breaker.until > now ? 'open' : 'half-open';
  const inUse = breaker.standing(now) === 'in-use';
  return { channel, breaker: inUse ? 'closed' : left, credentials: counts };
}
