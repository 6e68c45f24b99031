import fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { collectEvents } from '#test/support/collect-events.ts';
import { encodeEvents } from '#test/support/responses-codec.ts';
import { responseContext, events, finishOf } from '#test/support/responses-samples.ts';
import { responsesCodec as codec } from '../index.ts';

/** A client whose every request gets this stream. */
function clientOf(text: string): OpenAI {
  return new OpenAI({
    apiKey: 'none',
    maxRetries: 0,
    fetch: () =>
      Promise.resolve(new Response(text, { headers: { 'content-type': 'text/event-stream' } })),
  });
}

/** Without what the SDK adds. */
function plain(value: unknown): unknown {
  const added = new Set(['parsed', 'output_parsed', 'parsed_arguments', 'output_text']);
  return JSON.parse(
    JSON.stringify(value, (key, member: unknown) => (added.has(key) ? undefined : member)),
  );
}

describe('responses with the official SDK', () => {
  it('its accumulator accepts every stream, and ends with the same response as without streaming', async () => {
    const property = fc.asyncProperty(events, fc.boolean(), async (list, wasCut) => {
      const written = list.filter(
        (event) =>
          event.type !== 'citation' &&
          event.type !== 'state' &&
          (!('text' in event) || event.text !== ''),
      );
      const [candidate] = collectEvents(written);
      const blocks = candidate?.blocks ?? [];
      const finish = finishOf(blocks, wasCut);
      const text = encodeEvents([...written, { type: 'finish', finish }]);
      const final = await clientOf(text)
        .responses.stream({ model: 'm', input: 'x' })
        .finalResponse();
      const whole = codec.encodeResponse(
        { candidates: [{ blocks, finish }], extensions: [] },
        null,
        responseContext,
      );
      expect(plain(final)).toEqual(plain(whole));
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('accepts a stream with every kind of event', async () => {
    await fc.assert(
      fc.asyncProperty(events, async (list) => {
        await clientOf(encodeEvents(list))
          .responses.stream({ model: 'm', input: 'x' })
          .finalResponse();
      }),
      { numRuns: 60 },
    );
  });
});
