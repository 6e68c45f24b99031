import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { outlineOf, PieceOutline, Utf8Check } from './index.ts';

const longest = 8 * 1024;

function sliced(body: Buffer, cuts: readonly number[]): Buffer[] {
  const places = cuts.map((cut) => cut % (body.length + 1)).toSorted((a, b) => a - b);
  return [...places, body.length].map((to, index) => body.subarray(places[index - 1] ?? 0, to));
}

function outline(body: Buffer, cuts: readonly number[] = []): PieceOutline {
  const reading = new PieceOutline();
  // A piece may be used again.
  for (const piece of sliced(body, cuts)) {
    const own = Buffer.from(piece);
    reading.add(own);
    own.fill(0xff);
  }
  return reading;
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });
const longText = fc
  .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), fc.constantFrom(1, 500, 3000))
  .map(([text, times]) => text.repeat(times));
const json = fc.object({
  values: [longText, fc.boolean(), fc.integer(), fc.constant(null)],
  maxDepth: 3,
});

describe('the outline of a body in pieces', () => {
  test('is that of the whole body, wherever it is cut', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(0, 1), cuts, (value, indent, places) => {
        const body = Buffer.from(JSON.stringify(value, null, indent));
        const made = outline(body, places);
        expect(made.length).toBe(body.length);
        expect(made.end().equals(outlineOf(body, longest)!)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('says where the body has what it has', () => {
    fc.assert(
      fc.property(longText, longText, cuts, (before, name, places) => {
        const value = { [before]: [before, before], model: name, after: before };
        const body = Buffer.from(JSON.stringify(value));
        const made = outline(body, places);
        const text = made.end();
        const mark = Buffer.from('"model":');
        const start = text.indexOf(mark) + mark.length;
        const end = text.indexOf(Buffer.from(',"after":'));
        const place = made.placeOf({ start, end });
        const found = body.subarray(place.start, place.end).toString();
        expect(found).toBe(JSON.stringify(name));
      }),
    );
  });

  test.each([
    ['a control character', `"${'x'.repeat(9000)}\n"`],
    ['an unknown escape', `"${'x'.repeat(9000)}\\x"`],
    ['half an escape', `"${'x'.repeat(9000)}\\u00g0"`],
    ['no end', `"${'x'.repeat(9000)}`],
    ['an escaped quote at its end', `"${'x'.repeat(9000)}\\"`],
  ])('is refused for a long text with %s', (_, text) => {
    const body = Buffer.from(`{"a":${text}}`);
    fc.assert(
      fc.property(cuts, (places) => {
        expect(() => outline(body, places).end()).toThrow('invalid request body');
      }),
      { numRuns: 20 },
    );
  });

  test('is refused above 2 MiB', () => {
    const body = Buffer.from(`[${'0,'.repeat(2 ** 20)}0]`);
    expect(() => outline(body, [100, 1_000_000]).end()).toThrow('too complex');
  });
});

test('UTF-8 is recognized, wherever it is cut', () => {
  const hexadecimal = fc
    .constantFrom('f4908080', 'eda080', 'c0af', 'e282', 'f0908d88', '80', 'c3a9')
    .map((text) => Buffer.from(text, 'hex'));
  const text = fc.string({ unit: 'binary' }).map((each) => Buffer.from(each));
  const bytes = fc.oneof(text, text, text, hexadecimal);
  fc.assert(
    fc.property(fc.array(bytes), cuts, (parts, places) => {
      const body = Buffer.concat(parts);
      const check = new Utf8Check();
      for (const piece of sliced(body, places)) check.add(piece);
      expect(check.isWhole).toBe(isUtf8(body));
    }),
    { numRuns: 1_000 },
  );
});
