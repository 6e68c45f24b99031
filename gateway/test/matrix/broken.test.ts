import { describe, expect, test } from 'vitest';
import type { UsageEntry } from '#usage/index.ts';
import { ask, askRaw, attemptsOf, only, rowOf, shareGateway, until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { nanoOf } from '../money/books.ts';
import { testKey } from '../support/gateway.ts';
import { describeServed, pairs, protocolNames } from './gateway.ts';

/** Nano-USD at the price of every model here. */
const priceOf = ({ tokens }: UsageEntry): bigint =>
  BigInt(tokens.input) * 1_000n + BigInt(tokens.output) * 2_000n;

/** Every test breaks a channel of its own: faults count against a channel. */
const shared = shareGateway({
  config: describeServed(
    pairs.flatMap(({ client, upstream }) => {
      const name = `${client.name}-${upstream}`;
      const other = protocolNames.find((each) => each !== client.name && each !== upstream)!;
      const served = (kind: string, ...protocols: string[]) => ({
        name: `${kind}-${name}`,
        protocols,
        models: [[`${kind}-${name}`, 'demo-chat']] as const,
      });
      const first = { more: { priority: 1 } };
      return [
        ...['cut', 'close', 'error', 'left'].map((kind) => served(kind, upstream)),
        { ...served('charging', upstream), more: { bills_after_cancel: true } },
        { ...served('busy', upstream), ...first, at: '/fault(status=529)' },
        { ...served('busy', other), name: `spare-${name}` },
        { ...served('fails', upstream), ...first, at: '/fault(error-first)' },
        { ...served('fails', client.name), name: `native-${name}` },
      ];
    }),
  ),
});

describe.each(pairs)('$name', ({ client, upstream }) => {
  const name = `${client.name}-${upstream}`;
  const speaker = textProtocols.find((each) => each.name === upstream)!;
  const shownEvents = speaker.eventsBeforeContent + 2;

  test.each([
    ['cut', `cut-at=${shownEvents}`],
    ['close', `close-at=${shownEvents}`],
    ['error', `error-at=${shownEvents}`],
  ])(
    'R-12 R-13 K27 %s in mid-stream: the client’s error frame, no terminator',
    async (kind, fault) => {
      const response = await ask(shared.gateway, client, true, `${kind}-${name}`, {
        'x-simulator-fault': `events=5;gap=2;${fault}`,
      });
      expect(response.status).toBe(200);
      expect(response.text).toContain('This is');
      expect(response.text).not.toMatch(client.terminator);
      expect(response.text.match(new RegExp(client.errorFrame, 'gm'))).toHaveLength(1);
      expect(response.text.trimEnd().split('\n\n').at(-1)).toMatch(client.errorFrame);
      expect(response.text).not.toContain('CANARY');
      const row = await rowOf(shared.gateway, response.id);
      expect(row).toMatchObject({ outcome: 'failed', channel: `${kind}-${name}`, cost: null });
      expect(row.tokens).toMatchObject({ input: 0, output: 0 });
    },
  );

  test.each([true, false])('R-11 an overloaded channel is skipped, stream %s', async (stream) => {
    const response = await ask(shared.gateway, client, stream, `busy-${name}`);
    expect(response.status).toBe(200);
    expect(response.text).toMatch(/You/);
    const row = await rowOf(shared.gateway, response.id);
    expect(row).toMatchObject({ outcome: 'completed', channel: `spare-${name}` });
    expect(nanoOf(row.cost)).toBe(priceOf(row));
  });

  test('K39 a stream that fails before its content moves to a channel of the client’s own protocol', async () => {
    const response = await ask(shared.gateway, client, true, `fails-${name}`);
    expect(response.text).toMatch(client.terminator);
    expect(response.text).not.toMatch(client.errorFrame);
    const row = await rowOf(shared.gateway, response.id);
    expect(attemptsOf(row)).toMatchObject([
      { channel: `fails-${name}`, class: 'started' },
      { channel: `native-${name}`, result: 'completed' },
    ]);
  });

  test('K35 a client that disconnects stops the upstream and pays for what had arrived', async () => {
    const { url, simulator, usage } = shared.gateway;
    const model = `left-${name}`;
    const leaving = new AbortController();
    const response = await fetch(url + client.path(model, true), {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        authorization: `Bearer ${testKey}`,
        'content-type': 'application/json',
        'x-simulator-fault': 'events=500;gap=10',
      },
      body: JSON.stringify(client.body(model, true)),
    });
    const id = response.headers.get('x-request-id');
    const reader = response.body!.getReader();
    for (let read = 0; read < 4; read += 1) await reader.read();
    leaving.abort();
    await expect
      .poll(
        () =>
          simulator
            .requests()
            .filter(({ clientLeft: clientDisconnected }) => clientDisconnected)
            .at(-1)?.body ?? '',
      )
      .toMatch(/hello/);
    await expect
      .poll(async () => (await usage()).find((row) => row.id === id)?.outcome)
      .toBe('client-left');
    const row = await rowOf(shared.gateway, id ?? '');
    expect(row.tokens.output).toBeGreaterThan(0);
    expect(row.tokens.output).toBeLessThan(500);
    expect(nanoOf(row.cost)).toBe(priceOf(row));
  });

  test('B-20 missing, empty or implausible counts, whole and streamed', async () => {
    const faults = ['', 'missing', 'zero', 'absurd', 'negative'];
    const calls = faults.flatMap((usage) => [true, false].map((stream) => ({ usage, stream })));
    const responses = await Promise.all(
      calls.map(async ({ usage, stream }) => {
        const headers = { 'x-simulator-fault': usage === '' ? '' : `usage=${usage}` };
        const response = await ask(shared.gateway, client, stream, `left-${name}`, headers);
        expect(response.status).toBe(200);
        if (stream) expect(response.text).toMatch(client.terminator);
        return { id: response.id, usage };
      }),
    );
    const rows = new Map((await shared.gateway.usage()).map((row) => [row.id, row]));
    const internal = await shared.gateway.app.database.kysely
      .selectFrom('usage')
      .select(['id', 'held', 'usage_source'])
      .where(
        'id',
        'in',
        responses.map(({ id }) => id),
      )
      .execute();
    for (const { id, usage } of responses) {
      const row = rows.get(id)!;
      const { held, usage_source: source } = internal.find((each) => each.id === id)!;
      const cost = nanoOf(row.cost);
      expect([usage, row.outcome, row.estimated]).toEqual([
        usage,
        'completed',
        usage === 'missing' || usage === 'negative',
      ]);
      expect(cost <= (held ?? 0n), usage).toBe(true);
      if (usage === 'zero') expect(cost).toBe(0n);
      else if (usage !== 'absurd') {
        expect(row.tokens.output, usage).toBeGreaterThan(5);
        expect([usage, cost]).toEqual([usage, priceOf(row)]);
      } else {
        expect([usage, source]).toEqual([usage, 'quarantined']);
        expect(cost >= 0n, usage).toBe(true);
      }
    }
  });

  test('B-20 a client that leaves a complete response, or a channel that bills in full, pays for all of it', async () => {
    const { gateway } = shared;
    const left = async (kind: string, stream: boolean, fault: string) => {
      const before = new Set((await gateway.usage()).map(({ id }) => id));
      const asked = gateway.simulator.requests().length;
      const leaver = await askRaw(gateway, client, stream, `${kind}-${name}`, [
        `x-simulator-fault: ${fault}`,
      ]);
      const events = () => leaver.received().match(/^data: /gm)?.length ?? 0;
      if (stream) await until(() => events() > client.eventsBeforeContent + 2, 'content has come');
      else await until(() => gateway.simulator.requests().length > asked, 'it was asked');
      leaver.socket.destroy();
      const rows = async () => (await gateway.usage()).filter(({ id }) => !before.has(id));
      await until(async () => (await rows()).length === 1, 'its row');
      return only(await rows());
    };
    const whole = await left('left', false, 'delay=200');
    expect(whole).toMatchObject({ outcome: 'completed', estimated: false });
    expect(nanoOf(whole.cost)).toBe(priceOf(whole));
    const charged = await left('charging', true, 'events=40;gap=8');
    const headers = { 'x-simulator-fault': 'events=40' };
    const { id } = await ask(gateway, client, true, `charging-${name}`, headers);
    const { cost, tokens } = await rowOf(gateway, id);
    expect(tokens.output).toBeGreaterThan(10);
    // A slow machine may have had all of it before the client was gone.
    expect(['client-left', 'completed']).toContain(charged.outcome);
    expect(charged).toMatchObject({ estimated: false, cost });
  });
});
