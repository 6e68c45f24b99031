import { expect, test } from 'vitest';
import { withoutLogprobs } from './decode-stream.ts';

const lean = (text: string): string => withoutLogprobs(Buffer.from(text)).toString();

test.each([
  ['{"a":1}', '{"a":1}'],
  ['{"logprobs":[{"token":"]","bytes":[1]}],"b":2}', '{"logprobs":[],"b":2}'],
  ['{"logprobs" :\n [1], "x":{"logprobs":[[]]}}', '{"logprobs" :\n [], "x":{"logprobs":[]}}'],
  ['{"logprobs":null,"b":2}', '{"logprobs":null,"b":2}'],
  [
    '{"include":"logprobs","text":"\\"logprobs\\":[1]"}',
    '{"include":"logprobs","text":"\\"logprobs\\":[1]"}',
  ],
  // Not JSON: the reader will report it.
  ['{"logprobs":[1', '{"logprobs":[1'],
  ['{"logprobs"', '{"logprobs"'],
])('%s', (text, expected) => {
  expect(lean(text)).toBe(expected);
});
