import { exact, plus, times, toText } from '../../format/exact.ts';
import type { Formats } from '../../format/numbers.ts';
import { partName, partOf } from '../../format/parts.ts';
import type { Receipt } from '../../format/receipt.ts';
import type { Say } from '../../words/index.ts';
import type { Detail } from './request-view.tsx';

/** From this share on, one line explains a cost. */
const explains = 0.5;

/** Why a request cost what it did, in one to three sentences. */
export function reasonsOf(
  detail: Detail,
  receipt: Receipt | null,
  say: Say,
  formats: Formats,
): string[] {
  if (receipt === null) {
    return detail.outcome === 'completed'
      ? [say('request.reasons.free')]
      : [say('request.reasons.failed')];
  }
  const reasons: string[] = [];
  const largest = receipt.lines.toSorted((a, b) => b.share - a.share)[0];
  if (largest !== undefined && largest.share >= explains && receipt.lines.length > 1) {
    reasons.push(
      say('request.reasons.largest', {
        share: formats.percent(largest.share),
        part: startingSmall(partName(largest.part, say, formats.count)),
      }),
    );
  }
  const cache = cacheReason(detail, say, formats);
  if (cache !== null) reasons.push(cache);
  if (Number(receipt.multiplier) !== 1) {
    reasons.push(say('request.reasons.group', { name: detail.group, factor: receipt.multiplier }));
  }
  if (receipt.isCapped) reasons.push(say('request.capped'));
  if (detail.attempts.length > 1) reasons.push(say('request.reasons.failedFree'));
  return reasons;
}

/** Sizes such as `2K` keep their letters. */
const startingSmall = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** What the cache saved, at list prices: what was read is cheaper than input, and what was written is dearer. */
function cacheReason(
  { receipt, tokens, input_price: full }: Detail,
  say: Say,
  formats: Formats,
): string | null {
  const cached = receipt?.find(({ part }) => partOf(part).name === 'cache_read');
  if (full === null || cached === undefined) return null;
  const input = tokens.input + tokens.cache_read + tokens.cache_write + tokens.cache_write_1h;
  const cheaper = plus(exact(full), exact(`-${cached.price}`));
  let saved = times(cheaper, exact(String(cached.quantity)));
  for (const line of receipt ?? []) {
    if (!partOf(line.part).name.startsWith('cache_write')) continue;
    const dearer = plus(exact(full), exact(`-${line.price}`));
    saved = plus(saved, times(dearer, exact(String(line.quantity))));
  }
  if (saved.digits <= 0n || input === 0) return null;
  return say('request.reasons.cacheSaved', {
    percent: formats.percent(tokens.cache_read / input),
    saved: toText(saved, 2),
  });
}
