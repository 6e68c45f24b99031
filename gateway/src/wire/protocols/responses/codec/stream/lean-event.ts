import { skipSpace, skipValue } from '#json/index.ts';

const name = Buffer.from('"logprobs"');
const nothing = Buffer.from('[]');
const colon = 0x3a;
const openBracket = 0x5b;

/**
 * An event without log probabilities. The last events of an item and of the response repeat them all, several numbers
 * for each token, although they came with the tokens.
 */
export function withoutLogprobs(data: Buffer): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  // Quotes inside strings are escaped. So this is a member's name, or a value, which no colon follows.
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
