import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TokenUsage } from '#canonical/index.ts';
import { messagesCodec } from '#protocols/messages/index.ts';
import { collectEvents } from '../support/collect-events.ts';
import {
  responseContext,
  candidates,
  eventSequences,
  eventsOf,
} from '../support/messages-samples.ts';
import { encodeEvents } from '../support/messages-wire.ts';

const usage: TokenUsage = {
  input: 11,
  cacheRead: 3,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 7,
  reasoning: 2,
};

/** What the official SDK makes of a stream. */
async function finalMessage(stream: string): Promise<unknown> {
  const client = new Anthropic({
    apiKey: 'sk-test',
    maxRetries: 0,
    fetch: async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const messages = [{ role: 'user' as const, content: 'hi' }];
  const message = await client.messages
    .stream({ model: 'm', max_tokens: 10, messages })
    .finalMessage();
  return JSON.parse(JSON.stringify(message));
}

/** The members that a type of the SDK has in every value. */
type Needed<T> = Required<{ [K in keyof T as undefined extends T[K] ? never : K]: true }>;

function missing(value: unknown, needed: Readonly<Record<string, true>>): string[] {
  const present = value as Readonly<Record<string, unknown>>;
  return Object.keys(needed).filter((name) => present[name] === undefined);
}

const message: Needed<Anthropic.Message> = {
  id: true,
  container: true,
  content: true,
  diagnostics: true,
  model: true,
  role: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
  type: true,
  usage: true,
};
const used: Needed<Anthropic.Usage> = {
  cache_creation: true,
  cache_creation_input_tokens: true,
  cache_read_input_tokens: true,
  inference_geo: true,
  input_tokens: true,
  output_tokens: true,
  output_tokens_details: true,
  server_tool_use: true,
  service_tier: true,
  speed: true,
};
const called: Needed<Anthropic.ToolUseBlock> = {
  id: true,
  caller: true,
  name: true,
  type: true,
};
const ended: Needed<Anthropic.RawMessageDeltaEvent.Delta> = {
  container: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
};

it('nothing is missing that the SDK’s types have in every response', () => {
  const call = {
    type: 'tool-call',
    id: 'a',
    name: 'f',
    kind: 'function',
    arguments: '{}',
  } as const;
  const candidate = { blocks: [call], finish: { reason: 'tool' } } as const;
  const whole = messagesCodec.encodeResponse(
    { candidates: [candidate], extensions: [] },
    usage,
    responseContext,
  );
  const { usage: counts, content } = whole as { usage: unknown; content: unknown[] };
  expect([missing(whole, message), missing(counts, used), missing(content[0], called)]).toEqual([
    [],
    [],
    [],
  ]);

  const stream = encodeEvents(eventsOf(candidate), usage);
  const events = [...stream.matchAll(/^data: (.*)$/gm)].map(
    ([, json]) => JSON.parse(json ?? '') as Record<string, unknown>,
  );
  const at = (type: string, member: string) =>
    events.find((event) => event['type'] === type)?.[member] as Record<string, unknown>;
  const start = at('message_start', 'message');
  expect([
    missing(start, message),
    missing(start['usage'], used),
    missing(at('content_block_start', 'content_block'), called),
    missing(at('message_delta', 'delta'), ended),
  ]).toEqual([[], [], [], []]);
});

it('the SDK assembles a stream to the same response as without streaming', async () => {
  await fc.assert(
    fc.asyncProperty(candidates, async (candidate) => {
      const response = { candidates: [candidate], extensions: [] };
      expect(await finalMessage(encodeEvents(eventsOf(candidate), usage))).toMatchObject(
        messagesCodec.encodeResponse(response, usage, responseContext),
      );
    }),
  );
});

it('the SDK reads the output of upstreams that do everything at once', async () => {
  await fc.assert(
    fc.asyncProperty(eventSequences, async (events) => {
      const message = await finalMessage(encodeEvents(events, usage)).catch((error: unknown) => {
        // Arguments that begin like an object but are not one: what was sent cannot be repaired.
        expect(String(error)).toContain('JSON');
        return null;
      });
      if (message === null) return;
      const [candidate] = collectEvents(events);
      const calls = candidate?.blocks.filter(({ type }) => type === 'tool-call').length;
      const { content } = message as { content: { type: string }[] };
      expect(content.filter(({ type }) => type === 'tool_use').length).toBe(calls);
    }),
  );
});
