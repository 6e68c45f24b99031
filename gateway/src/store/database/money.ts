import { trimTrailing } from '#config/decimal.ts';

/** Nano-USD per USD. */
const nano = 1_000_000_000n;
const decimals = 9;
/** The maximum of a 64-bit column. */
const maxNano = 2n ** 63n - 1n;

/**
 * Converts decimal text in USD to nano-USD, exactly.
 * @throws RangeError unless it is a plain decimal with at most nine decimals that fits 64 bits.
 */
export function parseUsd(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  const fraction = trimTrailing(match?.[3] ?? '', '0');
  if (match === null || fraction.length > decimals) {
    throw new RangeError(`expected an amount in USD with at most nine decimals, got '${text}'`);
  }
  const amount = BigInt(match[2] ?? '') * nano + BigInt(fraction.padEnd(decimals, '0'));
  if (amount > maxNano) throw new RangeError(`amount too large: '${text}'`);
  return match[1] === '-' ? -amount : amount;
}

/** Converts nano-USD to the shortest decimal text in USD: `1250000000n` → `1.25`. */
export function formatUsd(amount: bigint): string {
  const sign = amount < 0n ? '-' : '';
  const absolute = amount < 0n ? -amount : amount;
  const fraction = trimTrailing((absolute % nano).toString().padStart(decimals, '0'), '0');
  return `${sign}${absolute / nano}${fraction === '' ? '' : `.${fraction}`}`;
}
