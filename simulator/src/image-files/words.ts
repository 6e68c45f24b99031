import type { Dimensions } from '../scenario/scenario.ts';
import type { ImageType } from './order.ts';
import { parseSize } from './size.ts';

/** What the words of a prompt ask of the simulator. They count in its last 300 characters. */
export interface PromptWords {
  /** `refuse prompt`: the prompt is refused; `refuse`: what was drawn. */
  readonly refusal: 'prompt' | 'image' | null;
  /** An upper-case reason behind `refuse`, such as `IMAGE_RECITATION`; '' without one. */
  readonly reason: string;
  /** `no picture`: the response has none. */
  readonly noImage: boolean;
  /** `as jpeg`, `as webp` */
  readonly type: ImageType | null;
  /** `3 pictures`, `16 layers` */
  readonly images: number | null;
  readonly layers: number | null;
  /** `sizes 1500x1740 1500x1741`: of the pictures in turn; the last one is that of all others. */
  readonly sizes: readonly Dimensions[];
  /** `fail picture 2`, from 1; `fail all` */
  readonly fails: (position: number) => boolean;
}

export function readWords(prompt: string): PromptWords {
  const text = prompt.slice(-300);
  const words = text.split(/[\s,.;:!]+/);
  const lower = words.map((word) => word.toLowerCase());
  const has = (...wanted: readonly string[]) => positionOf(lower, wanted) >= 0;
  const refuseAt = lower.indexOf('refuse');
  const reason = words[refuseAt + 1] ?? '';
  const failed = new Set(
    lower.flatMap((word, index) =>
      word === 'picture' && lower[index - 1] === 'fail' ? [Number(lower[index + 1])] : [],
    ),
  );
  const failsAll = has('fail', 'all');
  return {
    refusal: refuseAt < 0 ? null : reason === 'prompt' ? 'prompt' : 'image',
    reason: refuseAt >= 0 && /^[A-Z_]{4,}$/.test(reason) ? reason : '',
    type: (['jpeg', 'webp'] as const).find((type) => has('as', type)) ?? null,
    noImage: has('no', 'picture'),
    images: numberBefore(lower, ['picture', 'pictures', 'image', 'images']),
    layers: numberBefore(lower, ['layer', 'layers']),
    sizes: sizesAfter(lower),
    fails: (position) => failsAll || failed.has(position + 1),
  };
}

function positionOf(words: readonly string[], wanted: readonly string[]): number {
  return words.findIndex((_, at) => wanted.every((word, offset) => words[at + offset] === word));
}

function numberBefore(words: readonly string[], names: readonly string[]): number | null {
  const at = words.findIndex(
    (word, index) => names.includes(word) && /^\d{1,2}$/.test(words[index - 1] ?? ''),
  );
  return at < 0 ? null : Number(words[at - 1]);
}

function sizesAfter(words: readonly string[]): Dimensions[] {
  const start = words.indexOf('sizes') + 1;
  const read = start === 0 ? [] : words.slice(start).map(parseSize);
  const end = read.indexOf(null);
  return read.slice(0, end < 0 ? read.length : end).filter((size) => size !== null);
}
