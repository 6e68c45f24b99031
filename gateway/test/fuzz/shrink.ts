import { attempt } from './oracle.ts';
import type { FuzzTarget } from './target.ts';

/**
 * A shorter input that shows a finding of the same kind, found by leaving out ever smaller parts.
 * @param isOver ends the search; what was found until then counts.
 */
export async function shrink(
  target: FuzzTarget,
  input: Buffer,
  kind: string,
  isOver: () => boolean,
): Promise<Buffer> {
  let shortest = input;
  for (let part = input.length >> 1; part >= 1 && !isOver(); part >>= 1) {
    for (let at = 0; at < shortest.length && !isOver();) {
      const shorter = Buffer.concat([shortest.subarray(0, at), shortest.subarray(at + part)]);
      const { finding } = await attempt(target, shorter);
      if (finding?.kind === kind) shortest = shorter;
      else at += part;
    }
  }
  return shortest;
}
