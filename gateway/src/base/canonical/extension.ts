import type { TextProtocolName } from './protocol-name.ts';

/**
 * Something that only one protocol understands. An upstream of the same protocol gets it unchanged; every other one
 * reports it as a loss.
 */
export interface Extension {
  /** Whose it is. An encoder reads its own and reports the others. */
  readonly protocol: TextProtocolName;
  /** Its name as a client of that protocol writes it, from the object it sits in: `logit_bias`, `cachedContent`. */
  readonly name: string;
  readonly value: unknown;
  /**
   * What another protocol does with it. `drop`: leaves out something the caller may have meant and reports the loss.
   * `approximate`: carries its meaning in another way, and reports that.
   * `ignore`: leaves out something the response does not depend on, without a report. `refuse`: leaving it out would
   * change the response materially.
   */
  readonly ifForeign: 'drop' | 'approximate' | 'ignore' | 'refuse';
}

export type Extensions = readonly Extension[];

export const noExtensions: Extensions = Object.freeze([]);
