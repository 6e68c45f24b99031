/*
 * What a charge should be, worked out the slow way: fractions of any size, decimals by their definition. Nothing here
 * comes from the gateway, so that both would have to be wrong in the same way.
 */

interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

export interface OracleItem {
  /** Decimal text in USD. */
  readonly price: string;
  /** What the price is for: 1 000 000 tokens, 1 image. */
  readonly per: number;
  readonly quantity: number;
  /** Quantities are thousandths. */
  readonly thousandths?: boolean;
  /** A share of the price, itself kept to 10⁻¹⁵ USD. */
  readonly share?: string;
  /** What the price is multiplied by, one after the other, exactly. */
  readonly times?: readonly string[];
}

/** Nano-USD. */
export function oracleCost(items: readonly OracleItem[], multiplier: string): bigint {
  let usd: Fraction = { over: 0n, under: 1n };
  for (const { price, per, quantity, thousandths = false, share, times: factors = [] } of items) {
    let unit = times(decimal(price), { over: 1n, under: BigInt(per) });
    if (share !== undefined) {
      unit = { over: nearestEven(times(unit, decimal(share)), 10n ** 15n), under: 10n ** 15n };
    }
    for (const factor of factors) unit = times(unit, decimal(factor));
    usd = plus(usd, times(unit, { over: BigInt(quantity), under: thousandths ? 1000n : 1n }));
  }
  return nearestEven(times(usd, decimal(multiplier)), 10n ** 9n);
}

function decimal(text: string): Fraction {
  let over = 0n;
  let under = 1n;
  let isFraction = false;
  for (const character of text) {
    if (character === '.') {
      isFraction = true;
    } else {
      over = over * 10n + BigInt(character);
      if (isFraction) under *= 10n;
    }
  }
  return { over, under };
}

function times(left: Fraction, right: Fraction): Fraction {
  return { over: left.over * right.over, under: left.under * right.under };
}

function plus(left: Fraction, right: Fraction): Fraction {
  return {
    over: left.over * right.under + right.over * left.under,
    under: left.under * right.under,
  };
}

/** The integer nearest to `value × scale`: of two as near, the even one. Found by asking, not by remainders. */
function nearestEven({ over, under }: Fraction, scale: bigint): bigint {
  const floor = (over * scale) / under;
  const distance = (candidate: bigint): bigint => {
    const difference = candidate * under - over * scale;
    return difference < 0n ? -difference : difference;
  };
  const [below, above] = [distance(floor), distance(floor + 1n)];
  if (below !== above) return below < above ? floor : floor + 1n;
  return floor % 2n === 0n ? floor : floor + 1n;
}
