import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';
import { attemptsOf, rawPost, rowsAfterStop, sendRaw, until } from './support.ts';
import { textProtocols } from './text-protocols.ts';

describe.concurrent.each(textProtocols)('R-25 $name: while stopping', (protocol) => {
  test('a request that outlasts the drain time-out gets “service unavailable” and is cancelled', async () => {
    const gateway = await startTestGateway();
    const ask = (stream: boolean, fault: string) =>
      gateway.post(protocol.path('demo-chat', stream), protocol.body('demo-chat', stream), {
        'x-simulator-fault': fault,
      });
    const shown = await ask(true, 'events=200;gap=100');
    const notShown = ask(true, 'delay=30000');
    const whole = ask(false, 'delay=30000');
    await until(() => gateway.simulator.requests().length === 3, 'all have been asked');

    const startedAt = performance.now();
    const closed = gateway.app.close();
    const text = await shown.text();
    expect(text).toMatch(protocol.errorFrame);
    expect(text).toContain('service temporarily unavailable');
    expect(text).not.toMatch(protocol.terminator);
    for (const response of [await notShown, await whole]) {
      expect(response.status).toBe(503);
      expect(response.headers.get('connection')).toBe('close');
      expect(protocol.errorMessage(await response.json())).toContain('temporarily unavailable');
    }
    await closed;
    // The drain time-out of test gateways.
    expect(performance.now() - startedAt).toBeGreaterThan(1_900);
    expect(gateway.simulator.aborted()).toBe(3);
    expect(gateway.errors).toEqual([]);

    // Their rows are in the database: nobody pays, and reported usage is the operator's loss.
    const rows = await rowsAfterStop(gateway);
    expect(rows).toHaveLength(3);
    const rowOf = ({ headers }: Response) =>
      rows.find(({ id }) => id === headers.get('x-request-id'));
    const unpaid = { outcome: 'failed', tokens: { input: 0, output: 0 }, cost: null };
    const attempt = { channel: 'sim', class: 'uncertain', status: null, result: 'ended' };
    const told = protocol.name === 'messages' ? { usage: { input: 2 } } : {};
    expect(rowOf(shown)).toMatchObject({
      ...unpaid,
      status: 200,
      attempts: [{ ...attempt, class: 'shown', status: 200, ...told }],
    });
    for (const response of [await notShown, await whole]) {
      const row = rowOf(response);
      expect(row).toMatchObject({ ...unpaid, status: 503 });
      expect(row && attemptsOf(row)).toEqual([attempt]);
    }
    await gateway.simulator.close();
  });
});

test.each(textProtocols)(
  'R-25 $name: a connection whose response began before the stop accepts one more request',
  async (protocol) => {
    const gateway = await startTestGateway();
    const request = (fault: string) =>
      rawPost(protocol.path('demo-chat', true), protocol.body('demo-chat', true), [
        `x-simulator-fault: ${fault}`,
      ]);
    const client = await sendRaw(gateway.url, request('events=20;gap=25'));
    await until(() => client.received().includes('data: '), 'the response has begun');
    expect(client.received()).toMatch(/^connection: keep-alive/im);
    const closed = gateway.app.close({ keepListening: 100 });
    await until(() => client.received().endsWith('0\r\n\r\n'), 'the first response is whole');
    // The listener is closed by now; a load balancer that has just seen this end may still send on it.
    await wait(300);
    client.socket.write(request(''));
    await client.ended;
    const [first = '', second = '', third] = client.received().split('HTTP/1.1 200 OK').slice(1);
    for (const response of [first, second]) expect(response).toMatch(protocol.terminator);
    expect(second).toMatch(/^connection: close/im);
    expect(third).toBeUndefined();
    await closed;
    await gateway.simulator.close();
  },
);

test('R-25 the drain time-out also ends the time in which load balancers may notice', async () => {
  const gateway = await startTestGateway();
  const chat = textProtocols[0]!;
  const client = await sendRaw(
    gateway.url,
    rawPost(chat.path('demo-chat', true), chat.body('demo-chat', true), [
      'x-simulator-fault: gap=500;events=10000',
    ]),
  );
  await until(() => client.received().includes('200 OK'), 'the stream has begun');
  await gateway.app.close({ keepListening: 60_000 });
  await client.ended;
  expect(client.received()).not.toMatch(chat.terminator);
  expect(client.received()).toContain(
    'data: {"error":{"message":"service temporarily unavailable, please try again later"',
  );
  expect(client.received()).toMatch(/\r\n0\r\n\r\n$/);
  await gateway.simulator.close();
});
