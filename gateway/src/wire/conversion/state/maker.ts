import { digest } from '#protocols/index.ts';

/** Who made a reasoning state, and so who can read it. */
export interface StateMaker {
  /** A vendor: what one of its accounts made, another one reads. */
  readonly provider: string;
  /** The model's name at the upstream. */
  readonly model: string;
  /** The channel's id. */
  readonly channel: string;
}

/** One name for many vendors: their states are told apart by the channel. */
const manyVendors: ReadonlySet<string> = new Set(['openai-compatible']);

/**
 * The same text for all that read each other's state, of the same length for all, so that the length of an envelope
 * says nothing about the names.
 */
export function makerId({ provider, model, channel }: StateMaker): string {
  return digest(16, provider, model, manyVendors.has(provider) ? channel : '');
}
