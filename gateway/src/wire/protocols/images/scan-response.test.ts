import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splice } from '#json/index.ts';
import { UnreadableResponse } from '../protocol.ts';
import { images } from './index.ts';

const mapped = { clientModel: 'mine', upstreamModel: 'theirs' };

/** What a response comes to, or why it has none. */
function outcomeOf<Result>(read: () => Result): Result | { readonly unreadable: unknown } {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadableResponse)) throw error;
    // The message of one without any JSON may differ.
    return { unreadable: error.body, ...(error.usage !== null && { usage: error.usage }) };
  }
}

function whole(body: Buffer) {
  return outcomeOf(() => images.readResponse(body, mapped));
}

function scanned(body: Buffer, cuts: readonly number[]) {
  return outcomeOf(() => {
    const scan = images.scanResponse();
    let from = 0;
    for (const to of [...cuts, body.length].toSorted((a, b) => a - b)) {
      scan.add(body.subarray(from, to));
      from = to;
    }
    const { edits, fills: _fills, ...response } = scan.end(mapped);
    return { ...response, body: splice(body, edits) };
  });
}

const anything = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.object());
const size = fc.oneof(fc.constantFrom('1024x1024', '2K', ''), anything);
const entry = fc.oneof(
  fc.record(
    {
      size,
      z_index: fc.oneof(fc.nat(20), anything),
      error: fc.oneof(fc.constant({ code: 'x' }), anything),
      b64_json: fc.oneof(fc.base64String(), anything),
      url: fc.string(),
    },
    { requiredKeys: [] },
  ),
  anything,
);
const usage = fc.oneof(
  fc.record(
    {
      input_tokens: fc.nat(),
      output_tokens: fc.nat(),
      total_tokens: fc.nat(),
      input_images: fc.oneof(fc.nat(20), anything),
      input_tokens_details: fc.record({ text_tokens: fc.nat(), image_tokens: fc.nat() }),
    },
    { requiredKeys: [] },
  ),
  anything,
);
const response = fc.record(
  {
    created: fc.nat(),
    model: fc.oneof(fc.constant('theirs'), anything),
    data: fc.oneof(fc.array(entry, { maxLength: 5 }), anything),
    size,
    usage,
    service_tier: anything,
  },
  { requiredKeys: [] },
);

describe('a response in pieces', () => {
  test('is read as the whole one is, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.oneof({ weight: 5, arbitrary: response }, { weight: 1, arbitrary: anything }),
        fc.constantFrom(0, 1),
        fc.array(fc.nat(2_000), { maxLength: 10 }),
        (json, indent, cuts) => {
          const body = Buffer.from(JSON.stringify(json, null, indent));
          const places = cuts.map((cut) => cut % (body.length + 1));
          expect(scanned(body, places)).toEqual(whole(body));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['a picture longer than its header', { b64_json: 'QUJD'.repeat(40_000) }],
    ['a picture with escapes', { b64_json: 'QUI/'.repeat(40_000) }],
    ['a long error', { error: { message: 'x'.repeat(5_000) } }],
    ['a long text as size', { size: 'x'.repeat(5_000) }],
  ])('with %s is read as the whole one', (_, image) => {
    const text = JSON.stringify({ data: [image, {}] }).replaceAll('/', '\\/');
    const body = Buffer.from(text);
    const [left, right] = [scanned(body, [7, 70_000]), whole(body)];
    const shown = (value: typeof left) =>
      'entries' in value
        ? value.entries.map(({ isFailed, imageStart }) => ({
            isFailed,
            // More than any header: where texts with escapes are cut differs.
            start: imageStart?.subarray(0, 20_000),
          }))
        : value;
    expect(shown(left)).toEqual(shown(right));
    expect(left).toHaveProperty('entries.length', 2);
  });

  test('with an error is unreadable, and has the error and its usage', () => {
    const body = Buffer.from('{"error":{"code":"x"},"usage":{"input_tokens":7,"output_tokens":1}}');
    expect(scanned(body, [])).toMatchObject({
      unreadable: { error: { code: 'x' } },
      usage: { tokens: { input: 7 } },
    });
  });

  test.each(['', '{', 'nonsense', '{"data":[]}{}', '[1,]'])('of %j is unreadable', (text) => {
    expect(scanned(Buffer.from(text), [])).toEqual({ unreadable: null });
  });
});

describe('what an upstream leaves out', () => {
  const filled = (text: string): string => {
    const scan = images.scanResponse();
    const body = Buffer.from(text);
    scan.add(body.subarray(0, 9));
    scan.add(body.subarray(9));
    return splice(body, scan.end(mapped).fills(2)).toString();
  };

  test.each<[string, string, string]>([
    [
      'the size of each picture, if it is stated once',
      '{"data":[{"b64_json":"QUJD"},{ "url":"https://a"}],"size":"8x9"}',
      '{"data":[{"size":"8x9","b64_json":"QUJD"},{"size":"8x9", "url":"https://a"}],"size":"8x9"}',
    ],
    [
      'the size, if it is null',
      '{"size":"8x9","data":[{"size": null,"error":null,"url":"https://a"}]}',
      '{"size":"8x9","data":[{"size": "8x9","error":null,"url":"https://a"}]}',
    ],
    [
      'the references beside the pictures',
      '{"data":[],"usage":{"generated_images":1}}',
      '{"data":[],"usage":{"input_images":2,"generated_images":1}}',
    ],
    [
      'the references, if they are null',
      '{"data":[],"usage":{"generated_images":1, "input_images": null}}',
      '{"data":[],"usage":{"generated_images":1, "input_images": 2}}',
    ],
  ])('is filled: %s', (_, given, expected) => expect(filled(given)).toBe(expected));

  test.each([
    '{"data":[{"size":"1x1","url":"https://a"}],"size":"8x9","usage":{"generated_images":1,"input_images":5}}',
    '{"data":[{"url":"https://a"}],"size":"2K","usage":{"output_tokens":1}}',
    '{"data":[{"error":{"code":"x"},"url":""},{}],"size":"8x9"}',
    '{"data":[{"url":"https://a"}],"usage":{"generated_images":"1"}}',
  ])('nothing is changed in %s', (text) => expect(filled(text)).toBe(text));
});
