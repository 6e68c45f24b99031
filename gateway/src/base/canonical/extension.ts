import type { TextProtocolName } from './protocol-name.ts';

/**
 * Something that only one protocol understands, kept so that the same protocol on the other side gets it back
 * unchanged and every other one says that it was lost.
 */
export interface Extension {
  /** Whose it is. An encoder reads its own and reports the others. */
  readonly protocol: TextProtocolName;
  /** Its name as a client of that protocol writes it, from the object it sits in: `logit_bias`, `cachedContent`. */
  readonly name: string;
  readonly value: unknown;
  /**
   * What another protocol does about it: `drop` loses something the caller may have meant and says so; `ignore`
   * loses nothing the answer depends on and stays silent; `refuse` would give a materially different answer.
   */
  readonly ifForeign: 'drop' | 'ignore' | 'refuse';
}

export type Extensions = readonly Extension[];

export const noExtensions: Extensions = Object.freeze([]);
