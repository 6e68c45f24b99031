import { expect, test } from 'vitest';
import fc from 'fast-check';
import { replaceHalfCharacters } from './half-characters.ts';

test.each([
  [String.raw`"A\ud83dB"`, String.raw`"A\ufffdB"`],
  [String.raw`"\uDE00"`, String.raw`"\ufffd"`],
  [String.raw`"\uD83D\ud83d\ude00\ude00"`, String.raw`"\ufffd\ud83d\ude00\ufffd"`],
  [String.raw`{"\ud83d":"\\ud83d\\\ud83d"}`, String.raw`{"\ufffd":"\\ud83d\\\ufffd"}`],
])('%s is %s', (json, repaired) => {
  expect(replaceHalfCharacters(Buffer.from(json)).toString()).toBe(repaired);
});

test.each([String.raw`"😀 \ud83d\ude00 \uD83D\uDE00 \ud7ff \\ud83d"`, '{}', '"\\ue000"'])(
  '%s is left alone',
  (json) => {
    const body = Buffer.from(json);
    expect(replaceHalfCharacters(body)).toBe(body);
  },
);

test('a value becomes what the language calls well-formed', () => {
  const units = fc.array(fc.constantFrom('\\', 'u', 'a', '\ud83d', '\ude00', '"', '\ud7ff'));
  fc.assert(
    fc.property(units, (parts) => {
      const text = parts.join('');
      const repaired = replaceHalfCharacters(Buffer.from(JSON.stringify(text)));
      expect(JSON.parse(repaired.toString())).toBe(text.toWellFormed());
    }),
    { seed: 7 },
  );
});
