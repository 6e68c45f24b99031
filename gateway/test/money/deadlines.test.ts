import { describe, expect, test } from 'vitest';
import type { UsageEntry } from '#usage/index.ts';
import { ask, attemptsOf, rowOf, until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { testKey } from '../support/gateway.ts';
import { assertBilledExactly, shareBilledGateway, simulatorChannel } from './billed-gateway.ts';
import { nanoOf } from './books.ts';

/* Work that was asked for is paid for, whoever's time is up. */

const shared = shareBilledGateway({
  balance: 1_000_000,
  channels: [
    simulatorChannel({ name: 'sim', model: 'priced' }),
    simulatorChannel({ name: 'short', model: 'short', more: 'timeouts: { total: 1500ms }' }),
    `  - { name: vectors, provider: simulator, base_url: "SIMULATOR", protocols: [embeddings], models: [{ name: vectors, upstream: demo-embedding }] }`,
  ].join('\n'),
  models: ['priced', 'short'],
  moreModels: '  - { id: vectors, type: embedding, context_window: 4000, price: { input: 1000 } }',
});

const priceOf = ({ tokens }: UsageEntry): bigint =>
  BigInt(tokens.input) * 1_000_000n + BigInt(tokens.output) * 2_000_000n;

/** It is written when the response has been read to its end, after the client's own. */
async function lateRow(id: string): Promise<UsageEntry> {
  await until(
    async () => (await shared.gateway.usage()).some((row) => row.id === id),
    'the row',
    10_000,
  );
  return rowOf(shared.gateway, id);
}

const inOneSecond = { 'x-stainless-timeout': '1' };

describe.concurrent.each(textProtocols)('$name: a client whose own time is up', (protocol) => {
  test('pays for the whole response that it did not want to stream', async () => {
    const response = await ask(shared.gateway, protocol, false, 'priced', {
      ...inOneSecond,
      'x-simulator-fault': 'delay=2500',
    });
    // Not the upstream's, which would be a success.
    expect(response.status).toBe(502);
    expect(protocol.errorMessage(JSON.parse(response.text))).toBe('upstream response abnormal');
    const row = await lateRow(response.id);
    expect(row).toMatchObject({ outcome: 'client-left', status: 502, error: 'upstream_abnormal' });
    expect(row.tokens.output).toBeGreaterThan(10);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
  });

  test('pays for the input of a stream that had not begun', async () => {
    const response = await ask(shared.gateway, protocol, true, 'priced', {
      ...inOneSecond,
      'x-simulator-fault': 'delay=2500',
    });
    expect(response.status).toBe(502);
    const row = await lateRow(response.id);
    expect(row).toMatchObject({ outcome: 'client-left', status: 502, tokens: { output: 0 } });
    expect(attemptsOf(row)).toMatchObject([{ result: 'client-deadline' }]);
    expect(row.tokens.input).toBeGreaterThan(0);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
  });

  test('a stream that reaches the total time charges what came', async () => {
    const response = await ask(shared.gateway, protocol, true, 'short', {
      'x-simulator-fault': 'events=200;gap=50',
    });
    expect(response.status).toBe(200);
    expect(response.text).not.toMatch(protocol.terminator);
    const row = await lateRow(response.id);
    expect(row.outcome).toBe('client-left');
    expect(attemptsOf(row)).toMatchObject([{ result: 'deadline' }]);
    expect(row.tokens.output).toBeGreaterThan(0);
    expect(row.tokens.input).toBeGreaterThan(0);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
  });
});

test('embeddings: a client whose own time is up pays for its input', async () => {
  const response = await shared.gateway.post(
    '/v1/embeddings',
    { model: 'vectors', input: 'a sluice keeps the water of a canal in its place' },
    { authorization: `Bearer ${testKey}`, ...inOneSecond, 'x-simulator-fault': 'delay=2500' },
  );
  expect(response.status).toBe(502);
  await response.arrayBuffer();
  const row = await lateRow(response.headers.get('x-request-id') ?? '');
  expect(row).toMatchObject({ outcome: 'client-left', status: 502 });
  expect(nanoOf(row.cost)).toBe(priceOf(row));
  expect(row.tokens.input).toBeGreaterThan(0);
});

test('the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
