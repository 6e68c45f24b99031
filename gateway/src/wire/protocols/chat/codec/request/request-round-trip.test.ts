import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, encode, openai } from '#test/support/chat-codec.ts';
import { traitsOf } from '#test/support/upstream-traits.ts';
import { chatRequest } from '#test/support/chat-requests.ts';

describe('a chat request', () => {
  it('survives a round trip over the wire', () => {
    fc.assert(
      fc.property(chatRequest, (request) => {
        const { model } = request;
        const target = { ...openai, model, traits: traitsOf('openai', model) };
        const { json, losses } = encode(request, target);
        expect(losses).toEqual([]);
        expect(decode(json)).toEqual(request);
      }),
      { numRuns: 400 },
    );
  });

  it('is encoded as the same text each time', () => {
    fc.assert(
      fc.property(chatRequest, (request) => {
        const again = structuredClone(request);
        expect(JSON.stringify(encode(again))).toBe(JSON.stringify(encode(request)));
      }),
      { numRuns: 50 },
    );
  });
});
