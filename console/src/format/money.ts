import { exact, rounded, toText } from './exact.ts';

/** An amount in the parts that a reader weighs differently. */
export interface MoneyParts {
  readonly sign: string;
  /** Leading zeros with the point: they say how small the amount is, and nothing else. */
  readonly quiet: string;
  readonly ink: string;
  /** Hidden zeros that keep amounts of a column on the decimal point. */
  readonly padding: string;
  /** Digits behind the point, without the hidden ones. */
  readonly places: number;
}

const significant = 4;

/** Four significant digits, and two places below a thousand. @param amount decimal text in USD */
export function shortMoney(amount: string, width = 0): MoneyParts {
  const value = exact(amount);
  if (value.digits === 0n) return parts('0.00', width);
  const size = value.digits < 0n ? -value.digits : value.digits;
  const before = size.toString().length - value.places;
  const places = before >= significant ? 0 : Math.min(9, Math.max(2, significant - before));
  return parts(toText(rounded(value, places), Math.min(2, places)), width);
}

/** The places of a column of amounts, so that all of them stand on the decimal point. @param amounts decimal texts; null: none */
export function placesOf(
  amounts: readonly (string | null | undefined)[],
  show = shortMoney,
): number {
  return Math.max(0, ...amounts.map((amount) => (amount == null ? 0 : show(amount).places)));
}

/** Every digit that was charged. */
export function exactMoney(amount: string, width = 0): MoneyParts {
  return parts(toText(exact(amount), 2), width);
}

function parts(text: string, width: number): MoneyParts {
  const sign = text.startsWith('-') ? '−' : '';
  const bare = text.replace('-', '');
  const quiet = /^0\.0*/.exec(bare)?.[0] ?? '';
  const [whole = '', fraction = ''] = bare.slice(quiet.length).split('.');
  const point = bare.includes('.');
  const places = point ? bare.length - bare.indexOf('.') - 1 : 0;
  const grouped = quiet === '' ? whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',') : whole;
  return {
    sign,
    quiet,
    ink: point && quiet === '' ? `${grouped}.${fraction}` : grouped,
    places,
    padding: `${point || width === 0 ? '' : '.'}${'0'.repeat(Math.max(0, width - places))}`,
  };
}
