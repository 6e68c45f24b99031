import { describe, expect, test } from 'vitest';
import { openGateway, rowOf } from '../behaviour/support.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { assertBilledExactly, payer, shareBilledGateway } from './billed-gateway.ts';
import { balanceOf, nanoOf } from './books.ts';

/* Embeddings are priced by their input alone: 0.001 USD a token here, so that every rounding would be seen. */

const served = (name: string, at = '', more = '') =>
  `  - { name: ${name}, provider: simulator, base_url: "SIMULATOR${at}", models: [{ name: ${name}, upstream: demo-embedding }]${more} }`;

const entry = (id: string, price = '{ input: 1000 }') =>
  `  - { id: ${id}, type: embedding, context_window: 8192, price: ${price} }`;

const shared = shareBilledGateway({
  balance: 1_000,
  channels: [
    served('vectors'),
    served('free'),
    served('unpriced'),
    served('failing', '/fault(status=500)'),
    served('cutting', '/fault(cut-at=1)'),
    served('closing', '/fault(close-at=1)'),
    '  - { name: own, provider: openai-compatible, base_url: "UPSTREAM", models: [own] }',
  ].join('\n'),
  models: [],
  moreModels: [
    ...['vectors', 'failing', 'cutting', 'closing', 'own'].map((id) => entry(id)),
    entry('free', '{ input: 0 }'),
    entry('unpriced', 'null'),
  ].join('\n'),
});

interface Asked {
  readonly status: number;
  readonly id: string;
  readonly message: string | undefined;
}

async function embed(
  gateway: TestGateway,
  input: unknown,
  model = 'vectors',
  headers: Record<string, string> = {},
): Promise<Asked> {
  const response = await gateway.post('/v1/embeddings', { model, input }, headers);
  const body = (await response.json()) as { error?: { message: string } };
  const id = response.headers.get('x-request-id') ?? '';
  return { status: response.status, id, message: body.error?.message };
}

/** What only the database says of a row, once that is there. */
async function kept(gateway: TestGateway, id: string) {
  await rowOf(gateway, id);
  return gateway.app.database.kysely
    .selectFrom('usage')
    .select(['operation', 'held', 'usage_source'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

const nano = 1_000_000n;

describe('what may cost more than the price says is refused', () => {
  test.each([
    ['models', ['dear'], '', 'no other model may answer'],
    ['fallbacks', [{ model: 'dear' }], '', 'no other model may answer'],
    ['models', ['dear'], 'a'.repeat(2 ** 20), 'no other model may answer'],
    ['service_tier', 'priority', '', "'priority' has no price for this model"],
  ])('%s: %j', async (field, value, user, fault) => {
    const body = { model: 'own', input: 'a', [field]: value, user };
    const response = await shared.gateway.post('/v1/embeddings', body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param: field, message: expect.stringContaining(fault) as string },
    });
  });

  test('an empty list is not', async () => {
    const body = { model: 'vectors', input: 'a', models: [] };
    expect((await shared.gateway.post('/v1/embeddings', body)).status).toBe(200);
  });
});

describe('what is charged', () => {
  test.each([
    ['a text', 'hello world!', 3],
    ['texts', ['hello', 'world'], 4],
    ['a list of tokens', [1, 2, 3, 4, 5], 5],
    ['lists of tokens', [[1, 2], [3]], 3],
  ])('for %s: the tokens that the upstream counts', async (_, input, tokens) => {
    const { gateway } = shared;
    const { status, id } = await embed(gateway, input);
    expect(status).toBe(200);
    const row = await rowOf(gateway, id);
    expect(row).toMatchObject({
      model: 'vectors',
      channel: 'vectors',
      protocol: 'embeddings',
      outcome: 'completed',
      estimated: false,
      tokens: { input: tokens, output: 0, cache_read: 0, reasoning: 0 },
    });
    expect(nanoOf(row.cost)).toBe(BigInt(tokens) * nano);
    expect(await kept(gateway, id)).toMatchObject({ operation: 'embed', usage_source: 'reported' });
  });

  test('without counts: an estimate within the hold, marked', async () => {
    const { gateway } = shared;
    const missing = { 'x-simulator-fault': 'usage=missing' };
    const text = await embed(gateway, 'a'.repeat(400), 'vectors', missing);
    const row = await rowOf(gateway, text.id);
    expect(row.estimated).toBe(true);
    expect(row.tokens.input).toBeGreaterThanOrEqual(100);
    expect(row.tokens.input).toBeLessThanOrEqual(120);
    expect(nanoOf(row.cost)).toBe(BigInt(row.tokens.input) * nano);
    // A list of tokens says itself how many it has.
    const tokens = await embed(gateway, [11, 12, 13], 'vectors', missing);
    expect((await rowOf(gateway, tokens.id)).tokens.input).toBe(3);
  });

  test('with invalid counts: an estimate, marked', async () => {
    const { id } = await embed(shared.gateway, 'a'.repeat(40), 'vectors', {
      'x-simulator-fault': 'usage=negative',
    });
    const row = await rowOf(shared.gateway, id);
    expect(row.estimated).toBe(true);
    expect(row.tokens.input).toBeGreaterThan(0);
  });

  test('with counts that cannot be true: the hold at most, marked', async () => {
    const { id } = await embed(shared.gateway, 'hello', 'vectors', {
      'x-simulator-fault': 'usage=absurd',
    });
    const { held, usage_source } = await kept(shared.gateway, id);
    expect(usage_source).toBe('quarantined');
    expect(nanoOf((await rowOf(shared.gateway, id)).cost)).toBe(held);
  });

  test('with many inputs: every one of them may fill the window', async () => {
    const { gateway } = shared;
    const input = Array.from({ length: 4 }, () => Array.from({ length: 8000 }, () => 7));
    const { id } = await embed(gateway, input);
    expect(await kept(gateway, id)).toMatchObject({ usage_source: 'reported' });
    expect((await rowOf(gateway, id)).tokens.input).toBe(32_000);
  });

  test('with an explicit zero: zero', async () => {
    const { id } = await embed(shared.gateway, 'hello', 'vectors', {
      'x-simulator-fault': 'usage=zero',
    });
    const row = await rowOf(shared.gateway, id);
    expect(row).toMatchObject({ cost: '0', estimated: false });
  });

  test.each(['failing', 'cutting', 'closing'])('%s: nothing', async (model) => {
    const { status, id } = await embed(shared.gateway, 'hello', model);
    expect(status).toBe(502);
    expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('a response without vectors and counts is charged nothing', async () => {
    shared.upstream.answer = (_, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}');
    const { status, id } = await embed(shared.gateway, 'hello', 'own');
    expect(status).toBe(200);
    const row = await rowOf(shared.gateway, id);
    expect(nanoOf(row.cost)).toBe(0n);
  });

  test('a model whose price is 0 is charged nothing', async () => {
    const { status, id } = await embed(shared.gateway, 'hello', 'free');
    expect(status).toBe(200);
    expect(nanoOf((await rowOf(shared.gateway, id)).cost)).toBe(0n);
  });

  test('a model without a price is refused before anything is sent', async () => {
    shared.gateway.simulator.clear();
    const { status, message } = await embed(shared.gateway, 'hello', 'unpriced');
    expect(status).toBe(400);
    expect(message).toMatch(/no price is set$/);
    expect(shared.gateway.simulator.requests()).toEqual([]);
  });

  test('and the books are right to the nano-USD', () => assertBilledExactly(shared));
});

describe('what is held', () => {
  const bytesOf = (input: unknown) => JSON.stringify({ model: 'vectors', input }).length;

  test('for text: a token for two bytes of the body', async () => {
    const input = 'a'.repeat(501);
    const { id } = await embed(shared.gateway, input);
    const { held } = await kept(shared.gateway, id);
    expect(held).toBe(BigInt(Math.ceil(bytesOf(input) / 2)) * nano);
  });

  test('for tokens: themselves, and the rest of the body as text', async () => {
    const input = Array.from({ length: 100 }, () => 12_345);
    const { id } = await embed(shared.gateway, input);
    const rest = bytesOf(input) - JSON.stringify(input).length;
    const { held } = await kept(shared.gateway, id);
    expect(held).toBe((100n + BigInt(Math.ceil(rest / 2))) * nano);
  });

  test('for what bytes do not tell: a window each', async () => {
    shared.upstream.answer = (_, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"data":[{}],"usage":{"prompt_tokens":9000}}');
    const { id } = await embed(shared.gateway, [{ image: 'https://…' }, { image: 'x' }], 'own');
    expect((await kept(shared.gateway, id)).held).toBe(2n * 8192n * nano);
    expect((await rowOf(shared.gateway, id)).cost).toBe('9');
  });

  test('an input larger than the balance is admitted, and charged no more than there is', async () => {
    const gateway = await openGateway({ config: poor('0.02') });
    const { status } = await embed(gateway, 'a'.repeat(400));
    expect(status).toBe(200);
  });

  test('a balance that is used up admits none', async () => {
    const gateway = await openGateway({ config: poor('0.009') });
    const { status, message, id } = await embed(gateway, 'hello');
    expect(status).toBe(402);
    expect(message).toMatch(/^insufficient balance/);
    expect(await rowOf(gateway, id)).toMatchObject({ outcome: 'refused', cost: null });
    expect(gateway.simulator.requests()).toEqual([]);
    // What costs nothing needs no balance.
    expect((await embed(gateway, 'hello', 'free')).status).toBe(200);
  });

  test('of many at once with room for one, one is admitted', async () => {
    const gateway = await openGateway({ config: poor('0.04', '/fault(delay=300)') });
    const input = 'a'.repeat(120);
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async () => (await embed(gateway, input)).status),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 402)).toHaveLength(7);
    // 30 tokens at 0.001.
    expect(await balanceOf(gateway, 'poor@example.com')).toBe(10_000_000n);
  });
});

describe('billing.missing_usage', () => {
  const policy = (missing: string) =>
    openGateway({
      config: `billing: { missing_usage: ${missing} }\n${poor('10', '/fault(usage=missing)')}`,
    });

  test('zero: nothing is charged', async () => {
    const gateway = await policy('zero');
    const { status, id } = await embed(gateway, 'hello');
    expect(status).toBe(200);
    expect(nanoOf((await rowOf(gateway, id)).cost)).toBe(0n);
  });

  test('error: the response is not given', async () => {
    const gateway = await policy('error');
    const { status, id } = await embed(gateway, 'hello');
    expect(status).toBe(502);
    expect(await rowOf(gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
  });
});

test('a client that leaves pays for the whole response', async () => {
  const { gateway } = shared;
  const before = await balanceOf(gateway, payer);
  const left = AbortSignal.timeout(150);
  const asked = fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    signal: left,
    headers: {
      authorization: `Bearer ${testKey}`,
      'content-type': 'application/json',
      'x-simulator-fault': 'delay=400',
    },
    body: JSON.stringify({ model: 'vectors', input: [5, 5, 5] }),
  });
  await expect(asked).rejects.toThrow(/aborted/);
  await expect.poll(async () => before - (await balanceOf(gateway, payer))).toBe(3n * nano);
});

function poor(balance: string, at = ''): string {
  return `
channels:
${served('vectors', at)}
${served('free')}
models:
${entry('vectors')}
${entry('free', '{ input: 0 }')}
users: [{ email: poor@example.com, balance: ${balance} }]
keys: [{ name: poor, user: poor@example.com, secret: ${testKey} }]`;
}
