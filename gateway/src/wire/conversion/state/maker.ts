import { digest } from '#protocols/index.ts';
import { findFacts } from '#vendors/index.ts';

/** Who made a reasoning state, and therefore can read it. */
export interface StateMaker {
  /** The vendor: all its accounts can read each other's state. */
  readonly provider: string;
  /** The model's name at the upstream. */
  readonly model: string;
  /** The channel's id. */
  readonly channel: string;
}

/**
 * The same text for all makers that can read each other's state. Its length is constant, so that the length of an
 * envelope reveals nothing about the names. Where one name covers many vendors, the channel distinguishes their state.
 */
export function makerId({ provider, model, channel }: StateMaker): string {
  return digest(16, provider, model, findFacts(provider)?.isManyVendors === true ? channel : '');
}
