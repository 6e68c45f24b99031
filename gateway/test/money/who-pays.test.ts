import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { balances, reconcile, type Difference } from '../../src/ledger/index.ts';
import type { UsageEntry } from '../../src/usage/index.ts';
import { ask, rawPost, rowOf, sendRaw, until } from '../behaviour/support.ts';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';

/* B-20: every row of the table of who pays, in every protocol, streamed and whole. Whoever broke it pays. */

const nano = 10n ** 9n;
const opening = 1_000n * nano;

let gateway: TestGateway;
const warnings: string[] = [];
/** What all rows so far say was charged. */
let charged = 0n;

beforeAll(async () => {
  gateway = await startTestGateway({
    logger: { warn: (message) => void warnings.push(message) },
    config: `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models: [{ name: priced, upstream: demo-chat }]
  - name: charging
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    bills_after_cancel: true
    models: [{ name: charging, upstream: demo-chat }]
  - name: broken
    provider: simulator
    base_url: SIMULATOR/fault(status=500)
    priority: 9
    protocols: [chat, responses, messages, generate-content]
    models: [{ name: second, upstream: demo-chat }]
  - name: spare
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models: [{ name: second, upstream: demo-chat }]
models:
  - { id: priced, type: chat, context_window: 4000, max_output_tokens: 1000, price: &price { input: 1000, cache_read: 100, cache_write: 1250, output: 2000 } }
  - { id: charging, type: chat, max_output_tokens: 1000, price: *price }
  - { id: second, type: chat, max_output_tokens: 1000, price: *price }
users: [{ email: tester@example.com, balance: 1000 }]
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
`,
  });
});

afterAll(() => gateway.close());

/** 0.001 USD per token in, a tenth of it from the cache, 0.00125 into it, 0.002 out: in nano-USD. */
function priceOf({ tokens }: Pick<UsageEntry, 'tokens'>): bigint {
  return (
    BigInt(tokens.input) * 1_000_000n +
    BigInt(tokens.cache_read) * 100_000n +
    BigInt(tokens.cache_write + tokens.cache_write_1h) * 1_250_000n +
    BigInt(tokens.output) * 2_000_000n
  );
}

function nanoOf(cost: string | null): bigint {
  if (cost === null) return 0n;
  const [whole = '0', fraction = ''] = cost.split('.');
  return BigInt(whole) * nano + BigInt(fraction.padEnd(9, '0'));
}

/** The row, and that the balance has moved by exactly what it says. */
async function settled(id: string): Promise<UsageEntry> {
  const row = await rowOf(gateway, id);
  charged += nanoOf(row.cost);
  const { id: userId } = await gateway.app.database.kysely
    .selectFrom('users')
    .select('id')
    .where('email', '=', 'tester@example.com')
    .executeTakeFirstOrThrow();
  const account = `user:${userId}` as const;
  const left = await balances(gateway.app.database.kysely, [account]);
  expect(left.get(account)).toBe(opening - charged);
  return row;
}

const calls = textProtocols.flatMap((protocol) =>
  [true, false].map((stream) => ({
    name: `${protocol.name}${stream ? ' streamed' : ''}`,
    protocol,
    stream,
  })),
);

describe.each(calls)('$name', ({ protocol, stream }) => {
  const askWith = (fault: string, model = 'priced') =>
    ask(gateway, protocol, stream, model, { 'x-simulator-fault': fault });

  test('complete with its counts: the counts', async () => {
    const row = await settled((await askWith('')).id);
    expect(row.tokens.output).toBeGreaterThan(10);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
    expect(row.estimated).toBe(false);
  });

  test('complete without counts: an estimate, marked', async () => {
    const row = await settled((await askWith('usage=missing')).id);
    expect(row.estimated).toBe(true);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
    expect(nanoOf(row.cost)).toBeGreaterThan(0n);
  });

  test('an explicit zero: zero', async () => {
    const row = await settled((await askWith('usage=zero')).id);
    expect(row).toMatchObject({ outcome: 'completed', estimated: false });
    expect(nanoOf(row.cost)).toBe(0n);
  });

  test.each(['absurd', 'negative'])('%s counts: the hold at most, marked', async (kind) => {
    const { id } = await askWith(`usage=${kind}`);
    const row = await settled(id);
    const { held, usage_source: source } = await gateway.app.database.kysely
      .selectFrom('usage')
      .select(['held', 'usage_source'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(source).toBe('quarantined');
    expect(nanoOf(row.cost)).toBeGreaterThanOrEqual(0n);
    expect(nanoOf(row.cost) <= (held ?? 0n)).toBe(true);
    expect(held).toBeGreaterThan(0n);
    expect(warnings).toContain('the upstream reported usage that cannot be true');
    warnings.length = 0;
  });

  test('an error before anything: nothing', async () => {
    const answer = await askWith('status=400');
    expect(answer.status).toBe(400);
    expect(await settled(answer.id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('cut after output: nothing', async () => {
    const answer = await askWith(stream ? 'events=20;cut-at=12' : 'cut-at=1');
    expect(await settled(answer.id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('an end without its terminator: nothing', async () => {
    const answer = await askWith(stream ? 'events=20;close-at=12' : 'close-early');
    expect(await settled(answer.id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('a failed attempt before the answer: only the answer', async () => {
    const row = await settled((await askWith('', 'second')).id);
    expect(row.outcome).toBe('completed');
    expect(nanoOf(row.cost)).toBe(priceOf(row));
    expect(row.channel).toBe('spare');
  });

  test('refused by us: nothing', async () => {
    const response = await gateway.post(protocol.path('priced', stream), '{"model":"priced",');
    expect(response.status).toBe(400);
    expect(await settled(response.headers.get('x-request-id') ?? '')).toMatchObject({
      outcome: 'refused',
      cost: null,
    });
  });

  test('the client leaves', async () => {
    gateway.simulator.clear();
    const id = await leaving(
      protocol,
      stream,
      'priced',
      stream ? 'events=200;text-bytes=8000;gap=10' : 'delay=300',
    );
    const row = await settled(id);
    if (stream) {
      // What had come, and not the eight kilobytes that would have.
      expect(row.outcome).toBe('client-left');
      expect(row.tokens.output).toBeGreaterThan(5);
      expect(row.tokens.output).toBeLessThan(1_500);
      expect(gateway.simulator.aborted()).toBe(1);
    } else {
      expect(row.outcome).toBe('completed');
      expect(gateway.simulator.aborted()).toBe(0);
    }
    expect(row.tokens.input).toBeGreaterThan(0);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
  });
});

test.each(textProtocols)(
  '$name: the client leaves a channel that charges in full: all of it',
  async (protocol) => {
    const left = await settled(await leaving(protocol, true, 'charging', 'events=60;gap=8'));
    const whole = await settled(
      (await ask(gateway, protocol, true, 'charging', { 'x-simulator-fault': 'events=60' })).id,
    );
    expect(left).toMatchObject({ outcome: 'client-left', estimated: false, cost: whole.cost });
  },
);

test('the books are right to the nano-USD', async () => {
  const differences: Difference[] = [];
  const checked = await reconcile(gateway.app.database, {}, (each) => void differences.push(each));
  expect(differences).toEqual([]);
  expect(checked.rows).toBeGreaterThan(80);
  expect(gateway.errors).toEqual([]);
});

/** Sends, waits until the answer has begun (or was asked for), and goes. The id is found by the row. */
async function leaving(
  protocol: TextProtocol,
  stream: boolean,
  model: string,
  fault: string,
): Promise<string> {
  const known = new Set((await gateway.usage()).map(({ id }) => id));
  gateway.simulator.clear();
  const client = await sendRaw(
    gateway.url,
    rawPost(protocol.path(model, stream), protocol.body(model, stream), [
      `x-simulator-fault: ${fault}`,
    ]),
  );
  if (stream) await until(() => client.received().length > 3_000, 'some of it has come');
  else await until(() => gateway.simulator.requests().length === 1, 'the upstream was asked');
  client.socket.destroy();
  let id: string | undefined;
  await until(async () => {
    id = (await gateway.usage()).find((row) => !known.has(row.id))?.id;
    return id !== undefined;
  }, 'its row');
  return id ?? '';
}
