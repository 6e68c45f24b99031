import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { attemptsOf, describeChannels, rowOf, shareGateway } from './support.ts';

/*
 * Codex and OpenAI's SDKs let the upstream compact a long conversation. Only vendors with an endpoint for it can: its
 * result is sealed by them.
 */

const poorKey = 'sk-poor-0123456789abcdefghijklmnopqr';

const shared = shareGateway({
  config: `${describeChannels([
    {
      name: 'broken',
      at: '/fault(status=500)',
      protocols: ['responses'],
      models: ['long -> demo-chat'],
      more: ['priority: 2'],
    },
    // It could serve the model, but no compaction.
    { name: 'chat', protocols: ['chat'], models: ['long -> demo-chat'], more: ['priority: 1'] },
    {
      name: 'native',
      protocols: ['responses'],
      models: ['long -> demo-chat', 'kept -> demo-chat'],
    },
    { name: 'messages', protocols: ['messages'], models: ['converted -> demo-chat'] },
  ])}
users:
  - { email: tester@example.com, balance: 100 }
  - { email: poor@example.com, balance: 0.02 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: poor, user: poor@example.com, secret: ${poorKey} }
`,
});

const client = () =>
  new OpenAI({ apiKey: testKey, baseURL: `${shared.gateway.url}/v1`, maxRetries: 0 });

const history: OpenAI.Responses.ResponseInput = [
  { role: 'user', content: 'My name is Ada.' },
  { type: 'message', role: 'assistant', content: 'Hello Ada.' },
  { role: 'user', content: 'What is my name?' },
];

const compact = (body: object) => shared.gateway.post('/v1/responses/compact', body);

describe('POST /v1/responses/compact', () => {
  test('reaches the first upstream that compacts, is charged, and its result begins the next request', async () => {
    const { data, response } = await client()
      .responses.compact({ model: 'long', input: history, instructions: 'Be brief.' })
      .withResponse();
    expect(data.object).toBe('response.compaction');
    expect(data.output.at(-1)?.type).toBe('compaction');

    const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({
      operation: 'compact',
      protocol: 'responses',
      model: 'long',
      outcome: 'completed',
      stream: false,
    });
    expect(attemptsOf(row).map(({ channel, result }) => [channel, result])).toEqual([
      ['broken', 'abnormal'],
      ['native', 'completed'],
    ]);
    // 1 and 2 USD per million tokens; a cache costs as much as other input.
    const { input_tokens: input, output_tokens: output } = data.usage;
    expect(row.tokens.output).toBe(output);
    expect(row.cost).toBe(((input + 2 * output) / 1e6).toFixed(6));

    const next = await client().responses.create({
      model: 'long',
      input: [
        ...(data.output as OpenAI.Responses.ResponseInput),
        { role: 'user', content: 'And now?' },
      ],
    });
    expect(next.output_text).toContain('And now?');
  });

  test('continues a stored response', async () => {
    const first = await client().responses.create({ model: 'kept', input: 'My name is Ada.' });
    const data = await client().responses.compact({
      model: 'kept',
      previous_response_id: first.id,
    });
    expect(JSON.stringify(data.output)).toContain('My name is Ada.');
  });

  test('takes the items of converted responses by their ids', async () => {
    const first = await client().responses.create({ model: 'converted', input: 'My name is Ada.' });
    const [said] = first.output;
    const reference = { type: 'item_reference' as const, id: said?.id ?? '' };
    await client().responses.compact({ model: 'kept', input: [reference] });
    const asked = JSON.stringify(shared.gateway.simulator.requests().at(-1)?.body);
    expect(asked).toContain('Sluice simulator');
    expect(asked).not.toContain('item_reference');
  });

  test('reads a large conversation in a thread', async () => {
    const words = 'lorem ipsum '.repeat(200_000);
    const input = [...history, { role: 'user' as const, content: words }];
    const data = await client().responses.compact({ model: 'long', input });
    expect(data.output.at(-1)?.type).toBe('compaction');
    expect(data.usage.input_tokens).toBeGreaterThan(300_000);
  });

  test('is sent without the limit of output that a short balance sets elsewhere', async () => {
    const headers = { authorization: `Bearer ${poorKey}` };
    const limited = await shared.gateway.post(
      '/v1/responses',
      { model: 'kept', input: 'hello' },
      headers,
    );
    expect(limited.headers.get('x-sluice-rewrites')).toBe('m1');
    const body = { model: 'kept', input: 'hello' };
    expect((await shared.gateway.post('/v1/responses/compact', body, headers)).status).toBe(200);
  });

  test('is refused where nothing compacts, and nothing is asked', async () => {
    const before = shared.gateway.simulator.requests().length;
    const response = await compact({ model: 'converted', input: 'hello' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        message: 'compaction is not available for this model',
        type: 'invalid_request_error',
      },
    });
    expect(shared.gateway.simulator.requests()).toHaveLength(before);
    const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ operation: 'compact', outcome: 'refused', cost: null });
  });

  test.each([
    ['no input', { model: 'long' }, 'input is required'],
    ['a stream', { model: 'long', input: 'x', stream: true }, 'is not supported here'],
    ['an unknown model', { model: 'nobody', input: 'x' }, 'nobody'],
  ])('%s is refused', async (_name, body, message) => {
    const response = await compact(body);
    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain(message);
  });

  test('an upstream that refuses it passes its refusal on, and nothing is charged', async () => {
    const response = await compact({ model: 'long', input: 'x', max_output_tokens: 100 });
    expect(response.status).toBe(400);
    const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
  });
});
