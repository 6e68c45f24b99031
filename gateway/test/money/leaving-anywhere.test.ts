import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { UsageEntry } from '#usage/index.ts';
import { rawPost, sendRaw, until, type RawClient } from '../behaviour/support.ts';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { assertBilledExactly, ownChannel, payer, shareBilledGateway } from './billed-gateway.ts';
import { nanoOf } from './books.ts';

/*
 * Leaving at every place of a response, whatever the two sides speak: what the upstream has read is paid for, and what
 * it is about to report is waited for.
 */

const names = textProtocols.map(({ name }) => name);

const shared = shareBilledGateway({
  balance: 1_000_000,
  channels: names
    .map((name) =>
      ownChannel({ name, model: `over-${name}` }).replace(
        /protocols: \[[^\]]*\]/,
        `protocols: [${name}]`,
      ),
    )
    .join('\n'),
  models: [],
  moreModels: names
    .map(
      (name) =>
        `  - { id: over-${name}, type: chat, context_window: 1000000, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }`,
    )
    .join('\n'),
});

const pairs = textProtocols.flatMap((client) =>
  names.map((upstream) => ({ client, upstream, name: `${client.name} over ${upstream}` })),
);

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, more: object): string => `event: ${type}\n${data({ type, ...more })}`;

/** A response in pieces: up to its first content, up to the last event before its usage, and the rest. */
interface Pieces {
  readonly begun: string;
  readonly whole: string;
  readonly rest: string;
}

const answered = { input: 30_000, output: 900 };
const response = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [] };
const place = { item_id: 'i', output_index: 0, content_index: 0 };
const message = { id: 'i', type: 'message', role: 'assistant' };
const text = { type: 'output_text', text: 'so', annotations: [] };
const choice = (delta: object, finish: string | null): string =>
  data({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] });
const candidate = (said: string, more: object = {}): object => ({
  candidates: [{ index: 0, content: { role: 'model', parts: [{ text: said }] }, ...more }],
});

const pieces: Record<(typeof names)[number], Pieces> = {
  chat: {
    begun: choice({ role: 'assistant', content: 'so' }, null),
    whole: choice({}, 'stop'),
    rest:
      data({
        id: 'c',
        choices: [],
        usage: { prompt_tokens: answered.input, completion_tokens: answered.output },
      }) + 'data: [DONE]\n\n',
  },
  responses: {
    begun:
      event('response.created', { response: { ...response, status: 'in_progress' } }) +
      event('response.output_item.added', { output_index: 0, item: { ...message, content: [] } }) +
      event('response.content_part.added', { ...place, part: { ...text, text: '' } }) +
      event('response.output_text.delta', { ...place, delta: 'so' }),
    whole: event('response.output_text.done', { ...place, text: 'so' }),
    rest:
      event('response.content_part.done', { ...place, part: text }) +
      event('response.output_item.done', {
        output_index: 0,
        item: { ...message, status: 'completed', content: [text] },
      }) +
      event('response.completed', {
        response: {
          ...response,
          status: 'completed',
          usage: { input_tokens: answered.input, output_tokens: answered.output },
        },
      }),
  },
  messages: {
    begun:
      event('message_start', {
        message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] },
      }) +
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'so' } }),
    whole: event('content_block_stop', { index: 0 }),
    rest:
      event('message_delta', {
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: answered.input, output_tokens: answered.output },
      }) + event('message_stop', {}),
  },
  'generate-content': {
    begun: data(candidate('so')),
    whole: data(candidate('.', { finishReason: 'STOP' })),
    rest: data({
      ...candidate(''),
      usageMetadata: {
        promptTokenCount: answered.input,
        candidatesTokenCount: answered.output,
      },
    }),
  },
};

/** 40 KB in the names of a schema's members. */
function withSchema(client: TextProtocol, model: string): Record<string, unknown> {
  const properties = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `${'the_quick_brown_fox_'.repeat(50)}${index}`,
      { type: 'string' },
    ]),
  );
  const schema = { type: 'object', properties };
  const tool = { name: 'f', description: 'x' };
  const tools = {
    chat: [{ type: 'function', function: { ...tool, parameters: schema } }],
    responses: [{ type: 'function', ...tool, parameters: schema }],
    messages: [{ ...tool, input_schema: schema }],
    'generate-content': [{ functionDeclarations: [{ ...tool, parameters: schema }] }],
  }[client.name];
  return { ...client.body(model, true), tools };
}

const bodies = {
  'a schema': withSchema,
  underscores: (client: TextProtocol, model: string) =>
    client.body(model, true, '_'.repeat(40_000)),
  'what looks like a medium': (client: TextProtocol, model: string) =>
    client.body(model, true, `data:image/png;base64,${'A'.repeat(40_000)}`),
};

const costOf = ({ tokens }: UsageEntry): bigint =>
  BigInt(tokens.input) * 1_000_000n + BigInt(tokens.output) * 2_000_000n;

/** The one row of a stream that is left by `leave`, once the upstream has written `before`. */
async function rowOf(
  client: TextProtocol,
  body: Record<string, unknown>,
  upstream: string,
  { before, after }: { readonly before: string; readonly after: string },
): Promise<UsageEntry> {
  const known = (await shared.gateway.usage()).length;
  let finish = (): void => {};
  let cancelled = false;
  shared.upstream.clear();
  shared.upstream.answer = (_asked, given) => {
    given.on('close', () => (cancelled = true));
    if (before === '') return;
    given.writeHead(200, { 'content-type': 'text/event-stream' });
    given.write(before);
    finish = () => void given.end(after);
  };
  const left: RawClient = await sendRaw(
    shared.gateway.url,
    rawPost(client.path(`over-${upstream}`, true), body),
  );
  if (before === '')
    await until(() => shared.upstream.asked.length === 1, 'the upstream was asked');
  else await until(() => left.received().includes('so'), 'content');
  // All that was written in one piece has been read with the content.
  await wait(20);
  left.socket.resetAndDestroy();
  await wait(50);
  if (after !== '') finish();
  await until(async () => (await shared.gateway.usage()).length === known + 1, 'its row');
  await until(() => cancelled, 'the upstream is let go of');
  const [row] = await shared.gateway.usage();
  expect(row).toMatchObject({ user: payer, cost: expect.any(String) as string });
  expect(nanoOf(row!.cost)).toBe(costOf(row!));
  return row!;
}

describe.each(pairs)('$name', ({ client, upstream }) => {
  const { begun, whole, rest } = pieces[upstream];

  test.each(Object.entries(bodies))(
    '%s, at first content: the input by its bytes',
    async (_, of) => {
      const body = of(client, `over-${upstream}`);
      const row = await rowOf(client, body, upstream, { before: begun, after: '' });
      expect(row).toMatchObject({ outcome: 'client-left', estimated: true });
      // 40 000 bytes are 7 000 to 20 000 tokens, whoever counts.
      expect(row.tokens.input).toBeGreaterThan(10_000);
      expect(row.tokens.input).toBeLessThan(11_000);
    },
  );

  test('before any response: the same', async () => {
    const body = bodies.underscores(client, `over-${upstream}`);
    const row = await rowOf(client, body, upstream, { before: '', after: '' });
    expect(row.tokens).toMatchObject({ output: 0 });
    expect(row.tokens.input).toBeGreaterThan(10_000);
  });

  test('after the last text: the usage in flight', async () => {
    const body = client.body(`over-${upstream}`, true);
    const row = await rowOf(client, body, upstream, { before: begun + whole, after: rest });
    expect(row).toMatchObject({ estimated: false, tokens: answered });
  });
});

test('the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
