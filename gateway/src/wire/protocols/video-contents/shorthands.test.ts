import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readShorthands } from './shorthands.ts';

const read = (text: string) => {
  const { text: rest, shorthands } = readShorthands(text, 'prompt');
  return [rest, ...shorthands.map(({ field, value }) => `${field}=${value}`)];
};

test.each<[string, readonly string[]]>([
  ['a cat --rs 720p', ['a cat', 'resolution=720p']],
  ['a cat --resolution 1080p --duration 5', ['a cat', 'resolution=1080p', 'duration=5']],
  ['--dur 5 a cat', ['a cat', 'duration=5']],
  ['a --RT 16:9 cat', ['a cat', 'ratio=16:9']],
  ['a cat --seed -1', ['a cat', 'seed=-1']],
  ['a cat --seed=7', ['a cat', 'seed=7']],
  ['a cat --seed = 7', ['a cat', 'seed=7']],
  ['a cat --frames: 97', ['a cat', 'frames=97']],
  ['a cat\n--fps\t24\n', ['a cat', 'fps=24']],
  ['a cat —rs 720p', ['a cat', 'resolution=720p']],
  ['a cat –rs 720p', ['a cat', 'resolution=720p']],
  ['a cat ---rs 720p', ['a cat', 'resolution=720p']],
  ['a cat,--rs 720p, running', ['a cat,running', 'resolution=720p']],
  ['--framespersecond 24', ['', 'fps=24']],
])('%j', (text, expected) => expect(read(text)).toEqual(expected));

test.each([
  'a cat',
  ' a  cat ',
  'a cat --camerafixed false --wm true',
  'a cat -rs 720p',
  'well-dur 5 known',
  'a cat --rsx 720p',
  'a cat --rs-720p',
  '--',
  '',
])('stays as it is: %j', (text) => expect(read(text)).toEqual([text]));

test.each(['a cat --rs', 'a cat --dur   ', 'a cat --seed=', '--rs ,'])('no value: %j', (text) => {
  expect(() => read(text)).toThrow(/without a value/);
});

test.each(['--r--dur 5 s 1080p', '--rs--rs 480p 1080p', '-—dur 5 -rs 1080p', '----dur 5 rs 1080p'])(
  'what is left has no shorthand either: %j',
  (text) => {
    let rest = '';
    try {
      rest = readShorthands(text, 'prompt').text;
    } catch {
      return;
    }
    expect(readShorthands(rest, 'prompt').shorthands).toEqual([]);
  },
);

/** Independent of the reader: an upstream that finds a command anywhere after two hyphens. */
const found =
  /[-‐‑‒–—―−－﹣]{1,}(?:resolution|rs|duration|dur|frames|ratio|rt|seed|fps|framespersecond)[\s=:]+\S/i;
const single =
  /(?<![-‐‑‒–—―−－﹣])-(?:resolution|rs|duration|dur|frames|ratio|rt|seed|fps|framespersecond)[\s=:]+\S/gi;

describe('whatever the text', () => {
  const word = fc.constantFrom(
    '--rs',
    '--resolution',
    '--DUR',
    '—dur',
    '--frames=',
    '--ratio',
    '--seed',
    '--fps',
    '--cf',
    '720p',
    '1080p',
    '5',
    '-1',
    '16:9',
    'a',
    ' ',
    '\n',
    '-',
    '--',
    '—',
    '=',
    'rs',
    'dur',
    ',',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(word, { maxLength: 12 }).map((words) => words.join('')),
  );

  test('no recognised shorthand is left', () => {
    fc.assert(
      fc.property(text, (prompt) => {
        let rest = '';
        try {
          rest = readShorthands(prompt, 'prompt').text;
        } catch {
          return;
        }
        // A single hyphen is part of a word.
        expect(rest.replaceAll(single, '')).not.toMatch(found);
      }),
      { numRuns: 2_000 },
    );
  });

  test('a text without one stays as it is', () => {
    fc.assert(
      fc.property(fc.string(), (prompt) => {
        fc.pre(!/[-‐‑‒–—―−－﹣]/.test(prompt));
        expect(read(prompt)).toEqual([prompt]);
      }),
    );
  });
});
