import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, target } from '#test/support/generate-content-codec.ts';
import { nativeRequest } from '#test/support/generate-content-samples.ts';
import { generateContentCodec } from '../../index.ts';

describe('requests', () => {
  it('survive a round trip over the wire', () => {
    fc.assert(
      fc.property(nativeRequest, (given) => {
        const { json, losses } = generateContentCodec.encodeRequest(given, target());
        const back = decode(json, given.model);
        expect(back).toEqual(given);
        expect(losses.filter(({ what }) => what !== 'logprobs')).toEqual([]);
        expect(losses.some(({ what }) => what === 'logprobs')).toBe(given.logprobs !== null);
      }),
    );
  });

  it('are encoded as the same bytes every time, so that caches stay warm', () => {
    fc.assert(
      fc.property(nativeRequest, (given) => {
        const written = () => JSON.stringify(generateContentCodec.encodeRequest(given, target()));
        expect(written()).toBe(written());
      }),
    );
  });
});
