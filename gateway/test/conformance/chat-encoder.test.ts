import fc from 'fast-check';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import type { GenerationEvent, TokenUsage } from '#canonical/index.ts';
import type { ResponseContext } from '#protocols/codec.ts';
import { anyEvent, chatResponse, eventsOf } from '../support/chat-responses.ts';
import { chat, chatCodec } from '#protocols/chat/index.ts';

const usage: TokenUsage = {
  input: 11,
  cacheRead: 3,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 7,
  reasoning: 2,
};

const asked: OpenAI.ChatCompletionCreateParamsStreaming = {
  model: 'mine',
  messages: [{ role: 'user', content: 'hi' }],
  stream: true,
  stream_options: { include_usage: true },
};
const path = { operation: 'generate', model: null, stream: null } as const;
const opened = chat.openRequest(Buffer.from(JSON.stringify(asked)), path);
const context: ResponseContext = {
  requestId: 'req_abcdefghijklmnopqrstuvwx',
  model: 'mine',
  createdAt: 1_740_000_000,
  request: chatCodec.decodeRequest(chat.readRequest(opened)),
  inputTokens: 1,
};

function streamOf(events: readonly GenerationEvent[]): string {
  const encoder = chatCodec.createStreamEncoder(context);
  return events.map((event) => encoder.push(event)).join('') + encoder.end(usage);
}

/** What the official SDK makes of a stream. */
async function finalCompletion(stream: string): Promise<OpenAI.ChatCompletion> {
  const client = new OpenAI({
    apiKey: 'sk-test',
    maxRetries: 0,
    fetch: async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const completion = await client.chat.completions.stream(asked).finalChatCompletion();
  return JSON.parse(JSON.stringify(completion)) as OpenAI.ChatCompletion;
}

it('the SDK assembles a stream to the same response as without streaming', async () => {
  await fc.assert(
    fc.asyncProperty(chatResponse, fc.nat(4), async (blocks, at) => {
      // The stream helper of the SDK knows function calls only.
      fc.pre(!blocks.some((block) => block.type === 'tool-call' && block.kind === 'custom'));
      const finish = { reason: 'length' } as const;
      const whole = chatCodec.encodeResponse(
        { candidates: [{ blocks, finish }], extensions: [] },
        usage,
        context,
      ) as unknown as OpenAI.ChatCompletion;
      const streamed = await finalCompletion(
        streamOf([...eventsOf(blocks, () => at), { type: 'finish', finish }]),
      );
      const { id, created, model, usage: counted } = streamed;
      expect([id, created, model, counted]).toEqual([
        whole.id,
        whole.created,
        whole.model,
        whole.usage,
      ]);
      expect(said(streamed)).toEqual(said(whole));
    }),
  );
});

function said({ choices }: OpenAI.ChatCompletion) {
  return choices.map(({ finish_reason: finish, message }) => ({
    finish,
    // An empty text and none are the same in a stream, which begins with an empty one.
    content: message.content ?? '',
    refusal: message.refusal ?? '',
    calls: (message.tool_calls ?? []).map((call) =>
      call.type === 'function' ? [call.id, call.function.name, call.function.arguments] : [],
    ),
  }));
}

it('the SDK reads the output of upstreams that do everything at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 20 }), async (events) => {
      fc.pre(!events.some((event) => event.type === 'call-start' && event.kind === 'custom'));
      // It counts on answers without gaps between their numbers.
      const begun = [0, 1, 2].map((choice) => ({ type: 'text', text: 'x', choice }) as const);
      const { choices } = await finalCompletion(streamOf([...begun, ...events]));
      expect(choices).toHaveLength(3);
      for (const choice of choices) expect(choice.finish_reason).toBeTruthy();
    }),
  );
});
