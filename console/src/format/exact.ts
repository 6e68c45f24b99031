/** Decimal text without loss, as digits and a scale: `0.25` is 25 with 2 places. */
export interface Exact {
  readonly digits: bigint;
  readonly places: number;
}

/** @throws SyntaxError for anything but digits with an optional fraction and sign */
export function exact(text: string): Exact {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (match === null) throw new SyntaxError(`not a decimal number: ${text}`);
  const [, sign, whole = '0', fraction = ''] = match;
  return { digits: BigInt(`${sign}${whole}${fraction}`), places: fraction.length };
}

export function times(a: Exact, b: Exact): Exact {
  return { digits: a.digits * b.digits, places: a.places + b.places };
}

export function plus(a: Exact, b: Exact): Exact {
  const places = Math.max(a.places, b.places);
  return { digits: scaled(a, places) + scaled(b, places), places };
}

/** Rounds to this many places; a tie goes to the even digit, as the gateway rounds charges. */
export function rounded(value: Exact, places: number): Exact {
  if (value.places <= places) return { digits: scaled(value, places), places };
  const unit = 10n ** BigInt(value.places - places);
  const isNegative = value.digits < 0n;
  const size = isNegative ? -value.digits : value.digits;
  let whole = size / unit;
  const twice = (size % unit) * 2n;
  if (twice > unit || (twice === unit && whole % 2n === 1n)) whole += 1n;
  return { digits: isNegative ? -whole : whole, places };
}

/** Without trailing zeros. */
export function toText({ digits, places }: Exact, least = 0): string {
  const sign = digits < 0n ? '-' : '';
  const text = (digits < 0n ? -digits : digits).toString().padStart(places + 1, '0');
  const whole = text.slice(0, text.length - places);
  let fraction = places === 0 ? '' : text.slice(-places);
  while (fraction.length > least && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  fraction = fraction.padEnd(least, '0');
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`;
}

/** The sum of decimal texts. */
export const sumOf = (amounts: readonly string[]): string =>
  toText(amounts.map(exact).reduce(plus, exact('0')));

/** For lengths of bars only. */
export function toNumber({ digits, places }: Exact): number {
  return Number(digits) / 10 ** places;
}

function scaled({ digits, places }: Exact, to: number): bigint {
  return digits * 10n ** BigInt(to - places);
}
