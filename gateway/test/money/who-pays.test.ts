import { describe, expect, test } from 'vitest';
import type { UsageEntry } from '#usage/index.ts';
import { ask, askRaw, rowOf, until } from '../behaviour/support.ts';
import { eachCall, textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import {
  assertBilledExactly,
  payer,
  shareBilledGateway,
  simulatorChannel,
} from './billed-gateway.ts';
import { balanceOf, nanoOf } from './books.ts';

/* B-20: every row of the table of who pays, in every protocol, streamed and whole. Whoever broke it pays. */

const warnings: string[] = [];
/** What all rows so far say was charged. */
let charged = 0n;

const shared = shareBilledGateway({
  balance: 1_000,
  channels: [
    simulatorChannel({ name: 'sim', model: 'priced' }),
    simulatorChannel({ name: 'charging', model: 'charging', more: 'bills_after_cancel: true' }),
    simulatorChannel({
      name: 'broken',
      model: 'second',
      at: '/fault(status=500)',
      more: 'priority: 9',
    }),
    simulatorChannel({ name: 'spare', model: 'second' }),
  ].join('\n'),
  models: ['priced', 'charging', 'second'],
  logger: { warn: (message) => void warnings.push(message) },
});

/** 0.001 USD per token in, a tenth of it from the cache, 0.00125 into it, 0.002 out: in nano-USD. */
function priceOf({ tokens }: Pick<UsageEntry, 'tokens'>): bigint {
  return (
    BigInt(tokens.input) * 1_000_000n +
    BigInt(tokens.cache_read) * 100_000n +
    BigInt(tokens.cache_write + tokens.cache_write_1h) * 1_250_000n +
    BigInt(tokens.output) * 2_000_000n
  );
}

/** The row, and that the balance has moved by exactly what it says. */
async function settled(id: string): Promise<UsageEntry> {
  const row = await rowOf(shared.gateway, id);
  charged += nanoOf(row.cost);
  expect(await balanceOf(shared.gateway, payer)).toBe(shared.opening - charged);
  return row;
}

const holdOf = (id: string) =>
  shared.gateway.app.database.kysely
    .selectFrom('usage')
    .select(['held', 'usage_source'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();

describe.each(eachCall)('$name', ({ protocol, stream }) => {
  const askWith = (fault: string, model = 'priced') =>
    ask(shared.gateway, protocol, stream, model, { 'x-simulator-fault': fault });

  test('complete with its counts: the counts', async () => {
    const row = await settled((await askWith('')).id);
    expect(row.tokens.output).toBeGreaterThan(10);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
    expect(row.estimated).toBe(false);
  });

  test('complete without counts: an estimate within the hold, marked', async () => {
    const { id } = await askWith('usage=missing');
    const row = await settled(id);
    expect(row.estimated).toBe(true);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
    expect(nanoOf(row.cost)).toBeGreaterThan(0n);
    expect(nanoOf(row.cost)).toBeLessThanOrEqual((await holdOf(id)).held ?? 0n);
  });

  test('an explicit zero: zero', async () => {
    const row = await settled((await askWith('usage=zero')).id);
    expect(row).toMatchObject({ outcome: 'completed', estimated: false });
    expect(nanoOf(row.cost)).toBe(0n);
  });

  test('negative counts: an estimate within the hold, marked', async () => {
    const { id } = await askWith('usage=negative');
    const row = await settled(id);
    expect(row.estimated).toBe(true);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
    expect(nanoOf(row.cost)).toBeGreaterThan(0n);
    expect(nanoOf(row.cost)).toBeLessThanOrEqual((await holdOf(id)).held ?? 0n);
  });

  test('absurd counts: the hold at most, marked', async () => {
    const { id } = await askWith('usage=absurd');
    const row = await settled(id);
    const { held, usage_source: source } = await holdOf(id);
    expect(source).toBe('quarantined');
    expect(nanoOf(row.cost)).toBeGreaterThanOrEqual(0n);
    expect(nanoOf(row.cost) <= (held ?? 0n)).toBe(true);
    expect(held).toBeGreaterThan(0n);
    expect(warnings).toContain('the upstream reported implausible usage');
    warnings.length = 0;
  });

  test('an error before any output: nothing', async () => {
    const response = await askWith('status=400');
    expect(response.status).toBe(400);
    expect(await settled(response.id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('cut after output: nothing', async () => {
    const response = await askWith(stream ? 'events=20;cut-at=12' : 'cut-at=1');
    expect(await settled(response.id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('an end without a terminator: nothing', async () => {
    const response = await askWith(stream ? 'events=20;close-at=12' : 'close-early');
    expect(await settled(response.id)).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('a failed attempt before the response: only the response', async () => {
    const row = await settled((await askWith('', 'second')).id);
    expect(row.outcome).toBe('completed');
    expect(nanoOf(row.cost)).toBe(priceOf(row));
    expect(row.channel).toBe('spare');
  });

  test('refused by the gateway: nothing', async () => {
    const response = await shared.gateway.post(
      protocol.path('priced', stream),
      '{"model":"priced",',
    );
    expect(response.status).toBe(400);
    expect(await settled(response.headers.get('x-request-id') ?? '')).toMatchObject({
      outcome: 'refused',
      cost: null,
    });
  });

  test('a client that disconnects', async () => {
    shared.gateway.simulator.clear();
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
      expect(shared.gateway.simulator.aborted()).toBe(1);
    } else {
      expect(row.outcome).toBe('completed');
      expect(shared.gateway.simulator.aborted()).toBe(0);
    }
    expect(row.tokens.input).toBeGreaterThan(0);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
  });
});

test.each(textProtocols)(
  '$name: a client leaves a channel that bills in full: all of it',
  async (protocol) => {
    const left = await settled(await leaving(protocol, true, 'charging', 'events=60;gap=8'));
    const whole = await settled(
      (await ask(shared.gateway, protocol, true, 'charging', { 'x-simulator-fault': 'events=60' }))
        .id,
    );
    expect(left).toMatchObject({ outcome: 'client-left', estimated: false, cost: whole.cost });
  },
);

test('the books are exact to the nano-USD', async () => {
  expect((await shared.gateway.usage()).length).toBeGreaterThan(80);
  await assertBilledExactly(shared);
});

/** Sends, waits until the response has begun (or was asked for), and goes. The id is found by the row. */
async function leaving(
  protocol: TextProtocol,
  stream: boolean,
  model: string,
  fault: string,
): Promise<string> {
  const known = new Set((await shared.gateway.usage()).map(({ id }) => id));
  shared.gateway.simulator.clear();
  const client = await askRaw(shared.gateway, protocol, stream, model, [
    `x-simulator-fault: ${fault}`,
  ]);
  if (stream) await until(() => client.received().length > 3_000, 'some of it has come');
  else
    await until(() => shared.gateway.simulator.requests().length === 1, 'the upstream was asked');
  client.socket.destroy();
  let id: string | undefined;
  await until(async () => {
    id = (await shared.gateway.usage()).find((row) => !known.has(row.id))?.id;
    return id !== undefined;
  }, 'its row');
  return id ?? '';
}
