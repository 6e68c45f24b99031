import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { absence, recordings } from '../recordings/recordings.ts';
import { bytewise, readEvents, sliced } from '../recordings/tap-run.ts';

const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const line = fc.oneof(
  { weight: 4, arbitrary: fc.json().map((json) => `data: ${json}`) },
  fc.constantFrom(
    '',
    '',
    '',
    ': comment',
    ':',
    'data:{"a":"日本🙂"}',
    'event: x',
    'event:y',
    'id: 1',
    'data',
  ),
);

const stream = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(line, lineEnd), { maxLength: 30 }), fc.boolean())
  .map(([mark, lines, ended]) => {
    const text = lines.map(([content, end]) => content + end).join('');
    return Buffer.from(`${mark ? '\ufeff' : ''}${text}${ended ? '' : 'data: 1'}`);
  });

const plain = (chunks: readonly Buffer[]) =>
  readEvents(chunks).map(({ raw, name, data }) => [
    raw.toString('latin1'),
    name,
    data === null ? null : data.toString('latin1'),
  ]);

/** The events by the letter of the standard: whole text, split into lines, one field at a time. */
function reference(bytes: Buffer): [string | null, string][] {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const events: [string | null, string][] = [];
  let name: string | null = null;
  let data: string[] = [];
  for (const content of [...text.split(/\r\n|\n|\r/), '']) {
    const [, field = '', value = ''] = /^([^:]*):? ?([^]*)$/.exec(content) ?? [];
    if (content === '') {
      if (data.length > 0) events.push([name, data.join('\n')]);
      name = null;
      data = [];
    } else if (field === 'event') name = value === '' ? null : value;
    else if (field === 'data') data.push(value);
  }
  return events;
}

describe('event streams', () => {
  it('read alike wherever they are cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat()), (bytes, cuts) => {
        const whole = plain([bytes]);
        expect(plain(sliced(bytes, cuts))).toEqual(whole);
        expect(plain(bytewise(bytes))).toEqual(whole);
      }),
      { numRuns: 1500 },
    );
  });

  it('have the events of the standard, and lose no byte', () => {
    fc.assert(
      fc.property(stream, (bytes) => {
        const events = readEvents([bytes]);
        const found = events.flatMap(({ name, data }) =>
          data === null ? [] : [[name, data.toString('utf8')]],
        );
        // A last event that is not whole JSON was cut: not delivered.
        const expected = reference(bytes);
        if (found.length < expected.length) {
          expect(() => JSON.parse(expected.at(-1)?.[1] ?? '')).toThrow(SyntaxError);
          expected.pop();
        } else {
          const forwarded = Buffer.concat(events.map(({ raw }) => raw)).toString('utf8');
          const sent = bytes.toString('utf8').replace(/^\ufeff/, '');
          expect(forwarded.startsWith(sent)).toBe(true);
        }
        expect(found).toEqual(expected);
      }),
      { numRuns: 1500 },
    );
  });

  const streams = recordings.filter(({ sse }) => typeof sse === 'string');
  it.skipIf(absence !== null)(
    `recorded ones read alike wherever they are cut ${absence ?? ''}`,
    () => {
      for (const { sse } of streams) {
        const bytes = Buffer.from(sse ?? '').subarray(0, 20_000);
        const whole = plain([bytes]);
        expect(plain(bytewise(bytes))).toEqual(whole);
        fc.assert(
          fc.property(fc.array(fc.nat(), { maxLength: 50 }), (cuts) => {
            expect(plain(sliced(bytes, cuts))).toEqual(whole);
          }),
          { numRuns: 3 },
        );
      }
    },
  );
});
