import { inputRateBeside, ratesOf } from '#billing/index.ts';
import { readPriceVersion } from '#catalogue/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { decimalOf, type UsageDetail } from '#usage/index.ts';
import { rowOf } from './filter.ts';
import { explainLoss } from './loss-words.ts';

/**
 * One request with its receipt and its attempts.
 * @param texts of its errors, by the attempt; 0: the message that the client got
 */
export async function describeUsage(
  db: OpenDatabase['kysely'],
  entry: UsageDetail,
  texts: ReadonlyMap<number, string>,
) {
  const { receipt, route, losses, attempts } = entry;
  return {
    ...rowOf(entry),
    message: texts.get(0) ?? null,
    attempts: attempts.map((attempt, at) => ({ ...attempt, words: texts.get(at + 1) ?? null })),
    receipt: receipt === null ? null : [...receipt],
    input_price: await inputPriceOf(db, entry),
    route: [...route],
    losses: losses.map(explainLoss),
  };
}

/** What its tokens of caches would have cost as input, at the price that it was charged by. */
async function inputPriceOf(
  db: OpenDatabase['kysely'],
  { receipt, price_version: version }: UsageDetail,
): Promise<string | null> {
  const cached = receipt?.find(({ part }) => /(?:^|\.)cache_/.test(part));
  if (cached === undefined || version === null) return null;
  const keptPrice = await readPriceVersion(db, version);
  const rate = keptPrice === null ? null : inputRateBeside(ratesOf(keptPrice.price), cached.part);
  return rate === null ? null : decimalOf(rate);
}
