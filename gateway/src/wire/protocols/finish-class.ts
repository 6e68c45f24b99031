import type { FinishReason } from '#canonical/index.ts';

/** Parts of words that say that a response was cut. */
const classes: readonly (readonly [part: RegExp, reason: FinishReason])[] = [
  [/safety|filter|block|prohibit|refus|sensitive|recit|policy|moderat/, 'filtered'],
  [/length|max|limit|truncat|budget/, 'length'],
];

/** What a word that no vendor documents probably says: servers invent such words. */
export function finishClass(word: string): FinishReason {
  const text = word.toLowerCase();
  return classes.find(([part]) => part.test(text))?.[1] ?? 'other';
}
