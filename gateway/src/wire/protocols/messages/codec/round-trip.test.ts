import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '#canonical/index.ts';
import { collectEvents } from '#test/support/collect-events.ts';
import { assertLegal, readFrames } from '#test/support/messages-grammar.ts';
import {
  responseContext,
  candidates,
  eventSequences,
  eventsOf,
  requests,
  target,
} from '#test/support/messages-samples.ts';
import { decodeFrames, decodeWire, encodeEvents } from '#test/support/messages-wire.ts';
import { messagesCodec } from './codec.ts';
import { readUsage } from '../native/usage.ts';

describe('requests', () => {
  it('survive a round trip over the wire, with the same bytes each time', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const { json, losses } = messagesCodec.encodeRequest(request, target);
        expect(losses).toEqual([]);
        expect(decodeWire(json)).toEqual({ ...request, model: target.model });
        expect(JSON.stringify(messagesCodec.encodeRequest(request, target).json)).toBe(
          JSON.stringify(json),
        );
      }),
    );
  });
});

describe('responses', () => {
  it('survive a round trip over the wire', () => {
    fc.assert(
      fc.property(candidates, (candidate) => {
        const json = messagesCodec.encodeResponse(
          { candidates: [candidate], extensions: [] },
          null,
          responseContext,
        );
        expect(messagesCodec.decodeResponse(json).candidates).toEqual([candidate]);
      }),
    );
  });

  it('survive a round trip as a stream', () => {
    fc.assert(
      fc.property(candidates, (candidate) => {
        const text = encodeEvents(eventsOf(candidate));
        expect(collectEvents(decodeFrames(text))).toEqual([candidate]);
      }),
    );
  });

  it('keep the parts of usage apart', () => {
    const count = fc.nat(1_000_000);
    const usages = fc
      .record({
        input: count,
        cacheRead: count,
        cacheWrite: count,
        cacheWrite1h: count,
        output: count,
        reasoning: count,
      })
      .map((usage) => ({ ...usage, reasoning: Math.min(usage.reasoning, usage.output) }));
    fc.assert(
      fc.property(usages, (usage) => {
        const response = { candidates: [], extensions: [] };
        const json = messagesCodec.encodeResponse(response, usage, responseContext);
        expect(readUsage(json['usage'])?.tokens).toEqual(usage);
        const frames = readFrames(messagesCodec.createStreamEncoder(responseContext).end(usage));
        expect(readUsage(frames.at(-2)?.data['usage'])?.tokens).toEqual(usage);
      }),
    );
  });
});

describe('the stream encoder', () => {
  it('writes legal streams for any events', () => {
    fc.assert(
      fc.property(eventSequences, (events) => {
        const calls = assertLegal(encodeEvents(events));
        expect(calls.length).toBe(events.filter(({ type }) => type === 'call-start').length);
      }),
      { numRuns: 1000 },
    );
  });

  it('loses no text and no arguments', () => {
    const joined = (events: readonly GenerationEvent[], type: 'text' | 'reasoning') =>
      events.flatMap((event) =>
        event.choice === undefined && event.type === type ? [event.text] : [],
      );
    fc.assert(
      fc.property(eventSequences, (events) => {
        const come = [...decodeFrames(encodeEvents(events))];
        expect(joined(come, 'reasoning').join('')).toBe(joined(events, 'reasoning').join(''));
        // Refusals and images become text.
        const said = joined(events, 'text').join('');
        expect(joined(come, 'text').join('').length).toBeGreaterThanOrEqual(said.length);
      }),
    );
  });
});
