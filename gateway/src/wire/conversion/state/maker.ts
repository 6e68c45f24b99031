import { digest } from '#protocols/index.ts';

/** Who made a reasoning state, and therefore can read it. */
export interface StateMaker {
  /** The vendor: all its accounts can read each other's state. */
  readonly provider: string;
  /** The model's name at the upstream. */
  readonly model: string;
  /** The channel's id. */
  readonly channel: string;
}

/** These names cover many vendors, so their state is distinguished by channel. */
const manyVendors: ReadonlySet<string> = new Set(['openai-compatible']);

/**
 * The same text for all makers that can read each other's state. Its length is constant, so that the length of an
 * envelope reveals nothing about the names.
 */
export function makerId({ provider, model, channel }: StateMaker): string {
  return digest(16, provider, model, manyVendors.has(provider) ? channel : '');
}
