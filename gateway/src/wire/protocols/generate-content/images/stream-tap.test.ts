import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ImageEntry } from '../../shared/images/image-stream.ts';
import { verdict, type StreamEvent } from '../../protocol.ts';
import { ContentsImageTap } from './stream-tap.ts';

const echo = { clientModel: 'a', upstreamModel: 'a' };

function eventOf(value: unknown): StreamEvent {
  const raw = Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
  return { raw, name: null, data: raw.subarray(6, -2) };
}

const candidate = fc.record(
  {
    index: fc.integer({ min: 0, max: 3 }),
    content: fc.constantFrom(
      { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' }, thought: true }] },
      { parts: [{ text: 'a' }] },
      {},
    ),
    finishReason: fc.constantFrom('STOP', null),
  },
  { requiredKeys: [] },
);
const streams = fc.array(
  fc.record({ candidates: fc.array(candidate, { maxLength: 3 }) }, { requiredKeys: [] }),
  { maxLength: 12 },
);

test('every event is given out once, in its order, but none that may be the last', () => {
  fc.assert(
    fc.property(streams, (events) => {
      const sizes: ImageEntry[] = [];
      const tap = new ContentsImageTap({
        ...echo,
        sizeIn: () => '1x1',
        accepts: (entry) => sizes.push(entry) > 0,
      });
      const all: Buffer[] = [];
      const given: Buffer[] = [];
      for (const value of events) {
        const event = eventOf(value);
        all.push(event.raw);
        const flags = tap.inspect(event);
        if ((flags & verdict.replace) !== 0) given.push(...tap.replacement);
        else if ((flags & verdict.drop) === 0) given.push(event.raw);
        const waits = all.length - given.length;
        expect(waits > 0).toBe(tap.finished);
        expect(tap.heldBytes > 0).toBe(tap.finished);
      }
      expect(Buffer.concat([...given, ...tap.completion()])).toEqual(Buffer.concat(all));
      const drawn = events
        .flatMap(({ candidates = [] }) => candidates)
        .filter(({ content }) => JSON.stringify(content ?? {}).endsWith('"AAAA"}}]}'));
      expect(tap.entries).toHaveLength(drawn.length);
      expect(sizes).toEqual(tap.entries);
    }),
  );
});

test('a picture that must not be shown fails the stream', () => {
  const tap = new ContentsImageTap({ ...echo, sizeIn: () => null, accepts: () => false });
  const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
  expect(tap.inspect(eventOf({ candidates: [{ content: { parts } }] }))).toBe(verdict.failed);
  expect(tap.entries).toEqual([]);
});

test('the last usage counts, and the output of the one before if it has none', () => {
  const tap = new ContentsImageTap({ ...echo, sizeIn: () => null, accepts: () => true });
  const usages = [
    { promptTokenCount: 3 },
    {
      promptTokenCount: 3,
      candidatesTokenCount: 7,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 5 }],
    },
  ];
  for (const usageMetadata of usages) tap.inspect(eventOf({ usageMetadata }));
  expect(tap.usage?.tokens).toMatchObject({ input: 3, output: 7, outputImage: 5 });
  tap.inspect(eventOf({ usageMetadata: { promptTokenCount: 4 } }));
  expect(tap.usage?.tokens).toMatchObject({ input: 4, output: 7, outputImage: 5 });
});
