import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { type StreamEvent, textProtocols, verdict } from '#protocols/index.ts';
import { absence, recordings } from '../recordings/recordings.ts';
import { readEvents, runTap, sameNames } from '../recordings/tap-run.ts';
import { jsonText, jsonValue, plainKeyText } from './json-text.ts';
import { conclude } from './reference-taps.ts';

/** Text that looks like what the taps look for. */
const trap = fc.constantFrom(
  '"usage":{"prompt_tokens":1}',
  '"finish_reason":"stop"',
  '\\"error\\":{}',
  '}],"usage":{',
  '[DONE]',
  'message_stop',
);
const text = fc.oneof(trap, fc.string({ unit: 'grapheme' }), fc.constant(''));
const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const count = fc.oneof(fc.nat(1e6), fc.constantFrom<unknown>(-1, 1.5, null, '7', 2 ** 60));

const usage = fc.record(
  { prompt_tokens: count, completion_tokens: count, total_tokens: count },
  { requiredKeys: [] },
);

const generated: Readonly<Record<TextProtocolName, fc.Arbitrary<unknown>>> = {
  chat: fc.record(
    {
      id: text,
      choices: fc.array(
        fc.record(
          {
            index: fc.nat(3),
            delta: fc.record(
              {
                role: fc.constant('assistant'),
                content: fc.oneof(
                  text,
                  fc.constant(null),
                  fc.constant([{ type: 'text', text: 'x' }]),
                ),
                reasoning: text,
                tool_calls: fc.array(
                  fc.record({
                    index: fc.nat(2),
                    id: text,
                    function: fc.record({ arguments: text }),
                  }),
                ),
                annotations: jsonValue,
              },
              { requiredKeys: [] },
            ),
            finish_reason: fc.constantFrom(null, 'stop', 'length'),
            logprobs: jsonValue,
          },
          { requiredKeys: [] },
        ),
        { maxLength: 2 },
      ),
      usage: fc.oneof(usage, fc.constant(null)),
      model: fc.oneof(text, fc.constant(null)),
      error: fc.constantFrom(null, {}, { message: 'no' }),
      x_groq: fc.record({ usage: sometimes(usage) }),
    },
    { requiredKeys: [] },
  ),
  responses: fc.record(
    {
      type: fc.constantFrom(
        'response.output_text.delta',
        'response.created',
        'response.completed',
        'response.failed',
        'response.output_item.done',
        'error',
      ),
      sequence_number: fc.nat(),
      delta: fc.oneof(text, jsonValue),
      response: fc.record({ id: text, model: text, output: jsonValue }, { requiredKeys: [] }),
    },
    { requiredKeys: ['type'] },
  ),
  messages: fc.record(
    {
      type: fc.constantFrom(
        'message_start',
        'content_block_start',
        'content_block_delta',
        'message_delta',
        'message_stop',
        'ping',
        'error',
      ),
      delta: fc.record(
        {
          type: text,
          text,
          partial_json: text,
          thinking: text,
          stop_reason: sometimes(fc.constantFrom('end_turn', 'tool_use')),
        },
        { requiredKeys: [] },
      ),
      content_block: fc.record(
        {
          type: fc.constantFrom('text', 'thinking', 'tool_use'),
          text,
          name: text,
          input: jsonValue,
        },
        { requiredKeys: [] },
      ),
      message: fc.record({ model: text, content: jsonValue }, { requiredKeys: [] }),
    },
    { requiredKeys: ['type'] },
  ),
  'generate-content': fc.record(
    {
      candidates: fc.array(
        fc.record(
          {
            content: fc.record(
              {
                parts: fc.array(
                  fc.record(
                    { text, thought: fc.boolean(), functionCall: fc.record({ name: text }) },
                    { requiredKeys: [] },
                  ),
                ),
              },
              { requiredKeys: [] },
            ),
            finishReason: fc.constantFrom(null, 'STOP'),
            groundingMetadata: jsonValue,
          },
          { requiredKeys: [] },
        ),
        { maxLength: 2 },
      ),
      promptFeedback: fc.record({ blockReason: fc.constantFrom(null, 'SAFETY') }),
      usageMetadata: fc.record({ promptTokenCount: count }, { requiredKeys: [] }),
      modelVersion: text,
    },
    { requiredKeys: [] },
  ),
};

/** `undefined` members vanish in JSON. */
const settled = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

const names = Object.keys(generated) as TextProtocolName[];

const none = { failed: true, content: false, terminal: false, bytes: 0 };

/** What the tap makes of one event. */
function judge(protocol: TextProtocolName, event: StreamEvent) {
  const tap = textProtocols[protocol].createStreamTap(sameNames);
  const result = tap.inspect(event);
  if (result & verdict.failed) return none;
  const content = (result & verdict.content) !== 0;
  const terminal = (result & verdict.terminal) !== 0;
  return { failed: false, content, terminal, bytes: tap.outputBytes };
}

function judgeFully(protocol: TextProtocolName, event: StreamEvent) {
  const { failed, content, terminal, bytes } = conclude(protocol, event);
  return failed ? none : { failed, content, terminal, bytes };
}

describe('taps agree with a full parse of every event', () => {
  it.each(names)('%s, generated', (protocol) => {
    const events = generated[protocol].map(settled);
    // Both ways of writing: keys as they come in practice, and keys with escapes, which take the slow way.
    const written = events.chain((value) => fc.oneof(plainKeyText(value), jsonText(value)));
    fc.assert(
      fc.property(written, fc.boolean(), (json, named) => {
        const type = (JSON.parse(json) as Record<string, unknown>)['type'];
        const head = named && typeof type === 'string' ? `event: ${type}\n` : '';
        const lines = json
          .split(/\r\n|\n|\r/)
          .map((line) => `data:${line.startsWith(' ') ? ' ' : ''}${line}\n`);
        const [event] = readEvents([Buffer.from(`${head}${lines.join('')}\n`)]);
        expect(judge(protocol, event!)).toEqual(judgeFully(protocol, event!));
      }),
      { numRuns: 700 },
    );
  });

  const streams = recordings.filter(({ sse }) => typeof sse === 'string');
  it.skipIf(absence !== null)(`recorded ${absence ?? ''}`, () => {
    let compared = 0;
    for (const { protocol, sse } of streams) {
      for (const event of readEvents([Buffer.from(sse ?? '')])) {
        if (event.data === null || event.data.toString('latin1', 0, 6) === '[DONE]') continue;
        const { bytes: _, ...judged } = judge(protocol, event);
        expect(judgeFully(protocol, event)).toMatchObject(judged);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(10_000);
  });
});

describe('usage of any stream', () => {
  it.each(names)('%s: parts are counts and never negative', (protocol) => {
    fc.assert(
      fc.property(fc.array(generated[protocol].map(settled)), (events) => {
        const stream = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
        const { tap } = runTap(protocol, stream);
        for (const part of Object.values(tap.usage?.tokens ?? {})) {
          expect(Number.isInteger(part) && part >= 0).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });
});
