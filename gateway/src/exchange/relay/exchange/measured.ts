import type { Line, PriceRates } from '#billing/index.ts';
import { noTokens, type TokenUsage } from '#canonical/index.ts';
import type { ExchangeRecord, UnitsRecord } from '#usage/index.ts';

/** What an exchange used, as far as is known: for its row and its charge. */
export interface Measured {
  readonly tokens: TokenUsage;
  readonly source: ExchangeRecord['usageSource'];
  /** More than was asked for: it is believed only if it can be paid. Absent: no. */
  readonly isBeyondAsked?: boolean;
  /** What was made and used besides tokens. Absent: nothing. */
  readonly units?: UnitsRecord;
  /** Counters of the report that nothing reads. Absent: none. */
  readonly unread?: readonly string[];
  /** The lines of the receipt at these rates. */
  readonly lines: (rates: PriceRates) => readonly Line[];
}

const noLines: readonly Line[] = Object.freeze([]);

/** Nothing was used that has to be paid. */
export const nothingUsed: Measured = Object.freeze({
  tokens: noTokens,
  source: 'none',
  lines: () => noLines,
});
