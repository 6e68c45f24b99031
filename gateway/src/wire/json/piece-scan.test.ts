import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedJson, PieceScan, type FoundValue, type WatchedPath } from './piece-scan.ts';

const watched: readonly WatchedPath[] = [
  { path: ['model'], keep: 10_000 },
  { path: ['usage'], keep: 10_000 },
  { path: ['usage', 'input'], keep: 10_000 },
  { path: ['data', '*'], keep: 10_000 },
  { path: ['data', '*', 'size'], keep: 10_000 },
  { path: ['data', '*', 'b64_json'], keep: 5 },
];

function scan(body: Buffer, cuts: readonly number[] = []): readonly FoundValue[] {
  const scanning = new PieceScan(watched);
  const places = [...cuts, body.length].toSorted((a, b) => a - b);
  let from = 0;
  for (const to of places) {
    scanning.add(body.subarray(from, to));
    from = to;
  }
  return scanning.end();
}

/** The same by `JSON.parse`. An element's place is a number here: an object's member may be called `*`. */
function expected(json: unknown): [string, unknown][] {
  const found: [string, unknown][] = [];
  const walk = (value: unknown, path: readonly (string | number)[], shown: string) => {
    if (Array.isArray(value)) {
      for (const [at, each] of value.entries()) walk(each, [...path, at], `${shown}/${at}`);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, each] of Object.entries(value)) {
        walk(each, [...path, name], `${shown}/${name}`);
      }
    }
    const isWatched = watched.some(
      (each) =>
        each.path.length === path.length &&
        path.every((place, at) =>
          typeof place === 'number'
            ? each.path[at] === '*'
            : each.path[at] === place && place !== '*',
        ),
    );
    if (isWatched && path.at(-1) !== 'b64_json') found.push([shown, value]);
  };
  walk(json, [], '');
  return found;
}

function shown({ watched: { path }, indexes, text }: FoundValue): [string, unknown] {
  const places = [...indexes];
  const names = path.map((name) => (name === '*' ? String(places.shift()) : name));
  return [`/${names.join('/')}`, JSON.parse(text.toString())];
}

const name = fc.oneof(
  fc.constantFrom('model', 'usage', 'input', 'data', 'size', 'b64_json', '*', ''),
  fc.string({ unit: 'binary' }),
);
const anyJson = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(name, tie('any'), { maxKeys: 5 }),
})).any;
const body = fc.oneof(
  anyJson,
  fc.record({
    data: fc.array(fc.record({ size: anyJson, b64_json: fc.base64String(), other: anyJson })),
    usage: fc.record({ input: anyJson }),
    model: fc.string(),
  }),
);
const cuts = fc.array(fc.nat(3_000), { maxLength: 20 });
const within = (text: Buffer, places: readonly number[]) =>
  places.map((place) => place % (text.length + 1));

describe('a body in pieces', () => {
  test('has the values that JSON.parse finds, however it is cut', () => {
    fc.assert(
      fc.property(body, fc.constantFrom(0, 1, '\t'), cuts, (json, indent, places) => {
        const text = Buffer.from(JSON.stringify(json, null, indent));
        const found = scan(text, within(text, places));
        const whole = found.filter(({ watched: { path } }) => path.at(-1) !== 'b64_json');
        expect(whole.map(shown)).toEqual(expected(JSON.parse(text.toString())));
        for (const {
          start,
          end,
          text: kept,
          watched: { keep },
        } of found) {
          expect(kept).toEqual(text.subarray(start, Math.min(end, start + keep)));
        }
      }),
    );
  });

  test('is refused if JSON.parse refuses it, and only then', () => {
    fc.assert(
      fc.property(
        body,
        fc.nat(),
        fc.nat(),
        fc.string({ maxLength: 3 }),
        cuts,
        (json, at, cut, add, places) => {
          const whole = JSON.stringify(json);
          const from = at % (whole.length + 1);
          const broken = whole.slice(0, from) + add + whole.slice(from + (cut % 4));
          const text = Buffer.from(broken);
          const accepts = (read: () => unknown) => {
            try {
              read();
              return true;
            } catch {
              return false;
            }
          };
          expect(accepts(() => scan(text, within(text, places)))).toBe(
            accepts(() => JSON.parse(text.toString())),
          );
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('may have escaped keys', () => {
    const text = Buffer.from(String.raw`{"us\u0061ge":{"input":7},"mod\u0065l":"é"}`);
    for (let cut = 0; cut < text.length; cut += 1) {
      expect(scan(text, [cut]).map(shown)).toEqual([
        ['/usage/input', 7],
        ['/usage', { input: 7 }],
        ['/model', 'é'],
      ]);
    }
  });

  test.each([
    ['nothing', ''],
    ['two values', '{}{}'],
    ['an open object', '{"a":1'],
    ['an open string', '"abc'],
    ['a number that is not over', '[1.'],
    ['a leading zero', '01'],
    ['a comma too many', '[1,]'],
    ['a wrong bracket', '{"a":[}]'],
    ['too many levels', '['.repeat(600)],
    ['more watched values than anybody sends', `{"data":[${'{},'.repeat(10_001)}{}]}`],
  ])('with %s is refused', (_, text) => {
    expect(() => scan(Buffer.from(text))).toThrow(MalformedJson);
  });

  test('is not kept', () => {
    const scanning = new PieceScan(watched);
    scanning.add(Buffer.from('{"data":[{"b64_json":"'));
    const piece = Buffer.alloc(1024 * 1024, 'A');
    for (let count = 0; count < 8; count += 1) scanning.add(piece);
    scanning.add(Buffer.from('"}],"model":"m"}'));
    const found = scanning.end();
    const kept = found.find((each) => each.watched.path.at(-1) === 'b64_json');
    expect(kept?.text.toString()).toBe('"AAAA');
    expect((kept?.end ?? 0) - (kept?.start ?? 0)).toBe(8 * 1024 * 1024 + 2);
    expect(shown(found.at(-1)!)).toEqual(['/model', 'm']);
  });
});
