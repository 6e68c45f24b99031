import type { Say, TextName } from '../words/index.ts';
import { en } from '../words/en.ts';

/** How an attempt ended, in words; a name that has none stays as it is. */
export function resultText(result: string, say: Say): string {
  return Object.hasOwn(en.results, result) ? say(`results.${result}` as TextName) : result;
}
