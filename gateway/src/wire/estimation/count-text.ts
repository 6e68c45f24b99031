import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base';

/** Of a longer text this many characters are counted, in even samples; the rest is extrapolated. */
export const countedLength = 2 * 1024 * 1024;
const sampleLength = 8 * 1024;
/**
 * Merging takes quadratic time in the length of a word, and a word may be a megabyte of letters. Splitting long runs,
 * which no language has as words, costs one token per split.
 */
const longRun = /\S{128,}|\s{128,}/g;
const runLength = 64;

// Enough for the words of a few conversations. The default is ten times as much memory, which is never released.
setMergeCacheSize(10_000);

// Control tokens in the text count as text, as they do at the providers.
const asText = { disallowedSpecial: new Set<string>() };

/** Counts the tokens of texts in OpenAI's o200k_base encoding. */
export function countTexts(texts: readonly string[]): number {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= countedLength) return texts.reduce((sum, text) => sum + countText(text), 0);
  const all = texts.join('\n');
  const samples = Math.floor(countedLength / sampleLength);
  let tokens = 0;
  for (let sample = 0; sample < samples; sample += 1) {
    const from = Math.floor((all.length / samples) * sample);
    tokens += countText(all.slice(from, from + sampleLength));
  }
  return Math.ceil((tokens * all.length) / (samples * sampleLength));
}

function countText(text: string): number {
  let tokens = 0;
  let at = 0;
  for (const { 0: longPart, index } of text.matchAll(longRun)) {
    tokens += countTokens(text.slice(at, index), asText);
    for (let from = 0; from < longPart.length; from += runLength) {
      tokens += countTokens(longPart.slice(from, from + runLength), asText);
    }
    at = index + longPart.length;
  }
  return tokens + countTokens(at === 0 ? text : text.slice(at), asText);
}
