import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Edit,
  insertMember,
  parseObject,
  removeMember,
  replaceValue,
  scanJson,
  splice,
  watchList,
} from '#json/index.ts';
import { GatewayError } from '#errors/index.ts';
import { jsonText, jsonValue } from './json-text.ts';

const names = ['model', 'max_tokens', 'temperature'];
const watched = watchList([...names, 'stream_options.include_usage', 'stream_options.other']);

const tokens = '{ } [ ] " \\ : , 0 null "model" \\u0061 é'.split(' ').concat(' ');

/** Unwatched keys beside watched ones, in any order, none of them twice. */
const body = fc
  .record(
    {
      model: jsonValue,
      max_tokens: jsonValue,
      temperature: jsonValue,
      stream_options: fc.oneof(
        jsonValue,
        fc.dictionary(fc.constantFrom('include_usage', 'other', 'x'), jsonValue),
      ),
    },
    { requiredKeys: [] },
  )
  .chain((known) =>
    fc
      .dictionary(
        fc.string({ unit: 'binary' }).map((key) => `x${key}`),
        jsonValue,
        { maxKeys: 4 },
      )
      .chain((unknown) =>
        fc
          .shuffledSubarray(Object.entries({ ...known, ...unknown }), {
            minLength: Object.keys(known).length + Object.keys(unknown).length,
          })
          .map((entries) => Object.fromEntries(entries)),
      ),
  );

const written = body.chain((value) => jsonText(value).map((text) => ({ value, text })));

const parse = (bytes: Buffer): unknown => JSON.parse(bytes.toString('utf8'));

describe('the scanner against JSON.parse', () => {
  it('finds exactly the members in the body, and their values', () => {
    fc.assert(
      fc.property(written, ({ value, text }) => {
        const bytes = Buffer.from(text);
        const { members, objects } = scanJson(bytes, watched);
        for (const name of [...names, 'stream_options']) {
          const range = members.get(name);
          expect(range !== undefined).toBe(Object.hasOwn(value, name));
          if (range === undefined) continue;
          expect(parse(bytes.subarray(range.valueStart, range.valueEnd))).toEqual(value[name]);
          const member = bytes.subarray(range.keyStart, range.valueEnd).toString('utf8');
          expect(JSON.parse(`{${member}}`)).toEqual({ [name]: value[name] });
        }
        const options = value['stream_options'];
        const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
        expect(objects.has('stream_options')).toBe(isObject);
        const inner = members.get('stream_options.include_usage');
        expect(inner !== undefined).toBe(isObject && Object.hasOwn(options, 'include_usage'));
      }),
      { numRuns: 500 },
    );
  });

  it('answers any bytes with a parsed object or a GatewayError', () => {
    const fragments = fc.constantFrom(...tokens);
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 30 }), (parts) => {
        const text = `{${parts.join('')}`;
        let isObject = false;
        try {
          JSON.parse(text);
          isObject = true;
        } catch {
          // Not JSON: it must be refused.
        }
        let error: unknown = null;
        try {
          parseObject(Buffer.from(text), watched);
        } catch (thrown) {
          error = thrown;
        }
        if (error !== null) expect(error).toBeInstanceOf(GatewayError);
        if (!isObject) expect(error).not.toBe(null);
        if (isObject && error !== null) {
          expect((error as GatewayError).errorName).toBe('duplicate_key');
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe('splicing', () => {
  const kinds = fc.array(fc.constantFrom('keep', 'replace', 'remove'), {
    minLength: 3,
    maxLength: 3,
  });

  it('applies its edits and leaves every other byte', () => {
    fc.assert(
      fc.property(written, kinds, fc.boolean(), ({ value, text }, choices, insert) => {
        const bytes = Buffer.from(text);
        const { members, objects } = scanJson(bytes, watched);
        const edits: Edit[] = [];
        const expected: Record<string, unknown> = { ...value };
        let removed = false;
        for (const [index, name] of names.entries()) {
          const range = members.get(name);
          if (range === undefined) continue;
          if (choices[index] === 'replace') {
            edits.push(replaceValue(range, { new: name }));
            expected[name] = { new: name };
          } else if (choices[index] === 'remove' && !removed) {
            removed = true;
            edits.push(removeMember(bytes, range));
            delete expected[name];
          }
        }
        if (insert && !removed) {
          edits.push(insertMember(objects.get('')!, 'inserted', [1]));
          expected['inserted'] = [1];
        }
        const result = splice(bytes, edits);
        expect(parse(result)).toEqual(expected);

        const sorted = edits.toSorted((a, b) => a.start - b.start);
        let from = 0;
        let to = 0;
        for (const edit of sorted) {
          const length = edit.start - from;
          expect(result.compare(bytes, from, edit.start, to, to + length)).toBe(0);
          from = edit.end;
          to += length + edit.bytes.length;
        }
        expect(result.compare(bytes, from, bytes.length, to)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });
});
