import { describe, expect, test } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';
import { rawPost, sendRaw, until } from './support.ts';
import { textProtocols } from './text-protocols.ts';

describe.concurrent.each(textProtocols)('R-25 $name', (protocol) => {
  test('what outlasts the drain time-out is told that the service is unavailable, and cancelled', async () => {
    const gateway = await startTestGateway();
    const ask = (stream: boolean, fault: string) =>
      gateway.post(protocol.path('demo-chat', stream), protocol.body('demo-chat', stream), {
        'x-simulator-fault': fault,
      });
    const shown = await ask(true, 'events=200;gap=100');
    const notShown = ask(true, 'delay=30000');
    const whole = ask(false, 'delay=30000');
    while (gateway.simulator.requests().length < 3) await new Promise(setImmediate);

    const startedAt = performance.now();
    const closed = gateway.app.close();
    const text = await shown.text();
    expect(text).toMatch(protocol.errorFrame);
    expect(text).toContain('service temporarily unavailable');
    expect(text).not.toMatch(protocol.terminator);
    for (const answer of [await notShown, await whole]) {
      expect(answer.status).toBe(503);
      expect(answer.headers.get('connection')).toBe('close');
      expect(protocol.errorMessage(await answer.json())).toContain('temporarily unavailable');
    }
    await closed;
    // The drain time-out of test gateways, and the last words.
    expect(performance.now() - startedAt).toBeGreaterThan(1_900);
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(gateway.simulator.aborted()).toBe(3);
    expect(gateway.errors).toEqual([]);
    await gateway.simulator.close();
  }, 15_000);
});

test.each(textProtocols)(
  'R-25 $name: a connection whose answer began before closes with its end, not when the listener does',
  async (protocol) => {
    const gateway = await startTestGateway();
    const client = await sendRaw(
      gateway.url,
      rawPost(protocol.path('demo-chat', true), protocol.body('demo-chat', true), [
        'x-simulator-fault: events=20;gap=25',
      ]),
    );
    await until(() => client.received().includes('data: '), 'the answer has begun');
    expect(client.received()).toMatch(/^connection: keep-alive/im);
    const closed = gateway.app.close({ keepListening: 1_800 });
    const startedAt = performance.now();
    await client.ended;
    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(client.received()).toMatch(protocol.terminator);
    await closed;
    await gateway.simulator.close();
  },
);
