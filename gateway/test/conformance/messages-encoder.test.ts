import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TokenUsage } from '../../src/canonical/index.ts';
import { messagesCodec } from '../../src/protocols/messages/index.ts';
import { collectEvents } from '../support/collect-events.ts';
import {
  answerContext,
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

it('the SDK puts a stream together as the answer that is not streamed', async () => {
  await fc.assert(
    fc.asyncProperty(candidates, async (candidate) => {
      const response = { candidates: [candidate], extensions: [] };
      expect(await finalMessage(encodeEvents(eventsOf(candidate), usage))).toMatchObject(
        messagesCodec.encodeResponse(response, usage, answerContext),
      );
    }),
  );
});

it('the SDK reads whatever comes of upstreams that do everything at once', async () => {
  await fc.assert(
    fc.asyncProperty(eventSequences, async (events) => {
      const message = await finalMessage(encodeEvents(events, usage)).catch((error: unknown) => {
        // Arguments that begin as an object and are none after all: there is no mending what was sent.
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
