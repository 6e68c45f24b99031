import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Candidate, GenerationEvent, TextProtocolName } from '#canonical/index.ts';
import { textCodecs, verdict, type ResponseContext } from '#protocols/index.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { readEvents, sameNames } from '../recordings/tap-run.ts';
import { requestOf } from '../support/canonical.ts';
import { collectEvents } from '../support/collect-events.ts';
import { convert, converterOf, protocolPairs, readWire } from '../support/convert.ts';
import { readerOf } from '../support/converted-reader.ts';
import { candidates, eventsOf } from '../support/messages-samples.ts';
import { runs } from '../support/runs.ts';
import { changed, changes, wireRequests } from '../support/wire-requests.ts';

const usage = { input: 3, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 5, reasoning: 0 };
const request = requestOf({ stream: true, wantsUsage: true });
const context: ResponseContext = {
  requestId: 'req_up',
  model: 'up',
  createdAt: 1,
  request,
  inputTokens: 3,
};

/** A response as an upstream of the protocol streams it: a delta per character of every text. */
function upstreamStream(upstream: TextProtocolName, candidate: Candidate): string {
  const encoder = textCodecs[upstream].createStreamEncoder(context);
  const frames = eventsOf(candidate)
    .flatMap(pieces)
    .map((event) => encoder.push(event));
  return frames.join('') + encoder.end(usage);
}

function pieces(event: GenerationEvent): GenerationEvent[] {
  if (!('text' in event) || typeof event.text !== 'string') return [event];
  return Array.from(event.text, (text) => ({ ...event, text }));
}

interface Sent {
  readonly text: string;
  /** What each upstream event became, in their order. */
  readonly perEvent: readonly string[];
}

function streamed(
  upstream: TextProtocolName,
  client: TextProtocolName,
  chunks: readonly Buffer[],
): Sent {
  const tap = readerOf(upstream, client, request).createStreamTap(sameNames);
  const perEvent = readEvents(chunks).map((event) => {
    const flags = tap.inspect(event);
    expect(flags & verdict.failed).toBe(0);
    return (flags & verdict.replace) === 0 ? '' : String(tap.replacement);
  });
  expect(tap.finished).toBe(true);
  return { text: perEvent.join('') + tap.completion(), perEvent };
}

/** What a client makes of what it was sent. */
function understood(client: TextProtocolName, stream: string): readonly Candidate[] {
  const decoder = textCodecs[client].createStreamDecoder();
  const events: GenerationEvent[] = [];
  for (const event of readEvents([Buffer.from(stream)])) {
    decoder.push(event, (each) => events.push(each));
  }
  decoder.end((each) => events.push(each));
  return collectEvents(events);
}

/** A thought, a text and calls, in the order that every protocol can say: the codecs' own tests have all others. */
const responses = candidates
  .map((candidate): Candidate => {
    const calls = candidate.blocks.filter(({ type }) => type === 'tool-call');
    const words = ['reasoning', 'text'].flatMap(
      (type) => candidate.blocks.find((block) => block.type === type) ?? [],
    );
    return { ...candidate, blocks: [...words, ...calls] };
  })
  .filter(({ blocks }) => blocks.length > 0);

const terminators = Object.fromEntries(textProtocols.map((each) => [each.name, each.terminator]));

describe.each(protocolPairs)('$upstream for a client of $client', ({ client, upstream }) => {
  it('an assembled stream equals the complete response', () => {
    fc.assert(
      fc.property(responses, (candidate) => {
        const body = Buffer.from(
          JSON.stringify(
            textCodecs[upstream].encodeResponse(
              { candidates: [candidate], extensions: [] },
              usage,
              context,
            ),
          ),
        );
        const { body: whole } = readerOf(upstream, client, request).readResponse(body, sameNames);
        const json = JSON.parse(String(whole)) as Record<string, unknown>;
        const expected = textCodecs[client].decodeResponse(json).candidates;
        const { text } = streamed(upstream, client, [
          Buffer.from(upstreamStream(upstream, candidate)),
        ]);
        expect(understood(client, text)).toEqual(expected);
      }),
      { numRuns: runs(15, 60) },
    );
  });

  it('chunk boundaries of the upstream change nothing for the client, which gets one terminator', () => {
    fc.assert(
      fc.property(responses, fc.array(fc.nat(), { maxLength: 20 }), (candidate, cuts) => {
        const bytes = Buffer.from(upstreamStream(upstream, candidate));
        const whole = streamed(upstream, client, [bytes]).text;
        const places = cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b);
        const parts = [0, ...places].map((from, at) => bytes.subarray(from, places[at]));
        expect(streamed(upstream, client, parts).text).toBe(whole);
        const source = terminators[client]?.source ?? '';
        expect(whole.match(new RegExp(`${source}|"blockReason":`, 'gm'))).toHaveLength(1);
      }),
      { numRuns: runs(12, 40) },
    );
  });

  it('K06 no event waits for a later one', () => {
    fc.assert(
      fc.property(responses, (candidate) => {
        const stream = upstreamStream(upstream, candidate);
        const events = readEvents([Buffer.from(stream)]);
        const decoder = textCodecs[upstream].createStreamDecoder();
        const { perEvent } = streamed(upstream, client, [Buffer.from(stream)]);
        for (const [at, event] of events.entries()) {
          const shown: string[] = [];
          decoder.push(event, (each) => shown.push(...shownAtOnce(each, client)));
          for (const text of shown) expect(perEvent[at]).toContain(text);
        }
      }),
      { numRuns: runs(12, 40) },
    );
  });

  it('the same history gives the same bytes', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        const json = changed(wireRequests[client], list);
        const bodies: unknown[] = [];
        for (let round = 0; round < 2; round += 1) {
          try {
            const asked = { client, request: readWire(client, json), converter: converterOf() };
            const { body } = await convert({ ...asked, target: { protocol: upstream } });
            bodies.push(String(body));
          } catch (error) {
            bodies.push(String(error));
          }
        }
        expect(bodies[0]).toBe(bodies[1]);
      }),
      { numRuns: runs(15, 60) },
    );
  });
});

/**
 * The text that a client must have received of an event before the next one is read; generate-content sends calls only
 * when complete.
 */
function shownAtOnce(event: GenerationEvent, client: TextProtocolName): string[] {
  switch (event.type) {
    case 'text':
    case 'reasoning':
      // White space alone may stand at the border of a text, where some protocols trim.
      return event.text.trim() === '' ? [] : [JSON.stringify(event.text).slice(1, -1)];
    case 'call-start':
      return client === 'generate-content' ? [] : [`"name":"${event.name}"`];
    case 'call-arguments':
      return client === 'generate-content' ? [] : [JSON.stringify(event.text).slice(1, -1)];
    default:
      return [];
  }
}
