import { afterAll, describe, expect, test } from 'vitest';
import { ask, rowOf, shareGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { payloads, readEvents } from '../recordings/tap-run.ts';
import { answerWith, answeredWords, startOwnUpstream } from '../support/own-upstream.ts';
import { onePerProtocolAt, protocolNames } from './gateway.ts';
import { sdks } from './sdk/index.ts';

/**
 * Messages clients show what a request takes from its first event on, before any other upstream has said a number:
 * there an estimate stands, and the truth in the last event.
 */
const own = await startOwnUpstream();
afterAll(() => own.close());

const messages = textProtocols.find(({ name }) => name === 'messages')!;
const upstreams = protocolNames.filter((name) => name !== 'messages');
const shared = shareGateway({
  config: onePerProtocolAt(own.url),
});

/** Numbers that no estimate of these requests could be: 4321 in, 4000 of them from the cache, 77 out. */
const truths = {
  chat: {
    prompt_tokens: 4321,
    prompt_tokens_details: { cached_tokens: 4000 },
    completion_tokens: 77,
    total_tokens: 4398,
  },
  responses: {
    input_tokens: 4321,
    input_tokens_details: { cached_tokens: 4000 },
    output_tokens: 77,
    total_tokens: 4398,
  },
  'generate-content': {
    promptTokenCount: 4321,
    cachedContentTokenCount: 4000,
    candidatesTokenCount: 70,
    thoughtsTokenCount: 7,
    totalTokenCount: 4398,
  },
} as const;

interface Usage {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number | null;
  readonly output_tokens: number;
}

/** What the first event and the last but one of a stream say was used. */
function usagesIn(stream: string): { early: Usage; final: Usage } {
  const events = payloads(readEvents([Buffer.from(stream)])) as {
    type: string;
    message?: { usage: Usage };
    usage?: Usage;
  }[];
  expect([events[0]?.type, events.at(-1)?.type]).toEqual(['message_start', 'message_stop']);
  return {
    early: events[0]!.message!.usage,
    final: events.find(({ type }) => type === 'message_delta')!.usage!,
  };
}

describe.each(upstreams)('messages to %s', (upstream) => {
  const model = `at-${upstream}`;
  const asked = async (text: string) => {
    const response = await ask(shared.gateway, messages, true, model, {}, text);
    return { ...usagesIn(response.text), row: await rowOf(shared.gateway, response.id) };
  };

  test('an estimate at the start, the reported usage at the end', async () => {
    own.answer = answerWith(truths[upstream]);
    const short = await asked('hello');
    const long = await asked('a sluice keeps the water of a canal in its place '.repeat(40));
    for (const { early, final, row } of [short, long]) {
      expect(early.input_tokens).toBeGreaterThan(0);
      expect(early.input_tokens).toBeLessThan(2000);
      expect(early.output_tokens).toBeLessThan(77);
      expect(final).toMatchObject({
        input_tokens: 321,
        cache_read_input_tokens: 4000,
        output_tokens: 77,
      });
      expect(row.tokens).toMatchObject({ input: 321, cache_read: 4000, output: 77 });
    }
    expect(long.early.input_tokens).toBeGreaterThan(10 * short.early.input_tokens);
  });

  test('the SDK ends with the reported usage', async () => {
    own.answer = answerWith(truths[upstream]);
    const response = await sdks.messages.ask(shared.gateway.url, {
      model,
      text: 'hi',
      stream: true,
    });
    expect(response).toMatchObject({ text: answeredWords, inputTokens: 4321, outputTokens: 77 });
  });

  test('without a report the estimate stays, at both ends', async () => {
    own.answer = answerWith(undefined);
    const { early, final } = await asked('hello');
    expect(early.input_tokens).toBeGreaterThan(0);
    expect(final.input_tokens).toBe(early.input_tokens);
  });
});
