import { skipSpace, skipValue } from '#json/index.ts';

const name = Buffer.from('"logprobs"');
const nothing = Buffer.from('[]');
const colon = 0x3a;
const openBracket = 0x5b;

/**
 * An event without the probabilities of its words. The events that end an item and the answer repeat them all, several
 * numbers for each word, and they came with the words.
 */
export function withoutLogprobs(data: Buffer): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  // A quote inside of a string is escaped: what is found is a name, or a value that no colon follows.
  for (let at = data.indexOf(name); at >= 0; at = data.indexOf(name, from)) {
    const after = skipSpace(data, at + name.length);
    const start = data[after] === colon ? skipSpace(data, after + 1) : after;
    const end = data[start] === openBracket ? skipValue(data, start, 0) : start;
    if (end < 0) return data;
    kept.push(data.subarray(from, start));
    if (end > start) kept.push(nothing);
    from = end;
  }
  return from === 0 ? data : Buffer.concat([...kept, data.subarray(from)]);
}
