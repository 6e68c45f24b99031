import type { Say, TextName } from '../words/index.ts';
import { en } from '../words/en.ts';

const ending = 'ending=';

/** How an attempt ended, in words; a name that has none stays as it is, and so does the word of an upstream. */
export function resultText(result: string, say: Say): string {
  if (result.startsWith(ending)) {
    return say('results.ending', { word: result.slice(ending.length) });
  }
  return Object.hasOwn(en.results, result) ? say(`results.${result}` as TextName) : result;
}
