import { describe, expect, test } from 'vitest';
import {
  attemptsOf,
  ask,
  describeChannels,
  loadWith,
  rowOf,
  shareGateway,
  until,
} from './support.ts';
import { textProtocols } from './text-protocols.ts';

const shared = shareGateway({
  config: describeChannels([
    { name: 'swift', models: ['demo-chat'] },
    // For each protocol its own: no channel fails often enough to be passed over.
    ...textProtocols.flatMap(({ name }) => [
      {
        name: `quick-to-fail-${name}`,
        at: '/fault(delay=200;status=500)',
        models: [`late-${name} -> demo-chat`],
        more: ['priority: 1'],
      },
      { name: `late-${name}`, at: '/fault(delay=2100)', models: [`late-${name} -> demo-chat`] },
    ]),
    ...textProtocols.flatMap((protocol) =>
      ['a', 'b', 'c'].map((name, index) => ({
        name: `${name}-${protocol.name}`,
        at: '/fault(delay=1200;status=500)',
        models: [`slow-${protocol.name} -> demo-chat`],
        more: [`priority: ${9 - index}`],
      })),
    ),
  ]),
});
loadWith(shared);
const unhurried = { 'x-stainless-timeout': '600' };
/** The gateway answers a quarter of a second before it: at two seconds. */
const inTwoSeconds = { 'x-stainless-timeout': '2.25' };

describe.concurrent.each(textProtocols)(
  'R-22 $name: a client that announces its deadline',
  (protocol) => {
    test.each([true, false])(
      'gets its response before its deadline, whatever is being tried (streamed: %s)',
      async (stream) => {
        const startedAt = performance.now();
        const response = await ask(
          shared.gateway,
          protocol,
          stream,
          `slow-${protocol.name}`,
          inTwoSeconds,
        );
        const elapsed = performance.now() - startedAt;
        expect(elapsed).toBeGreaterThan(1_950);
        expect(response.status).toBe(502);
        expect(protocol.errorMessage(JSON.parse(response.text))).toBe('upstream response abnormal');
        // What was asked for is awaited and paid, beyond the client's own response.
        await until(
          async () => (await shared.gateway.usage()).some(({ id }) => id === response.id),
          'the row',
        );
        const row = await rowOf(shared.gateway, response.id);
        expect(row.status).toBe(502);
        expect(row.outcome).toBeOneOf(['client-left', 'failed']);
        // Of three channels at 1200 ms each there is time for one and part of another, which may both end at the same
        // moment on a busy machine.
        const results = attemptsOf(row).map(({ result }) => result);
        expect(results).toEqual(['abnormal', expect.toBeOneOf(['client-deadline', 'abnormal'])]);
      },
    );

    test('gets no second attempt if the second channel usually takes longer than the time left', async () => {
      const model = `late-${protocol.name}`;
      const first = await ask(shared.gateway, protocol, true, model, unhurried);
      expect(attemptsOf(await rowOf(shared.gateway, first.id))).toMatchObject([
        { result: 'abnormal' },
        { result: 'completed' },
      ]);
      const second = await ask(shared.gateway, protocol, true, model, inTwoSeconds);
      expect(second.status).toBe(502);
      // The other channel is not asked: nothing to wait for, and nothing to pay.
      expect(attemptsOf(await rowOf(shared.gateway, second.id))).toMatchObject([
        { channel: `quick-to-fail-${protocol.name}`, result: 'abnormal' },
      ]);
    });

    test('keeps a started stream beyond its deadline: SDKs stop their clock at the head', async () => {
      const response = await ask(shared.gateway, protocol, true, 'demo-chat', {
        ...inTwoSeconds,
        'x-simulator-fault': 'events=50;gap=60',
      });
      expect(response.text).toMatch(protocol.terminator);
    });
  },
);

test('R-16 an open stream is kept alive at half of the silence that the client announces', async () => {
  const chat = textProtocols[0]!;
  const read = async (headers: Record<string, string>) => {
    const fault = `stall-at=${chat.eventsBeforeContent + 1};stall-ms=1600`;
    const response = await ask(shared.gateway, chat, true, 'demo-chat', {
      'x-simulator-fault': fault,
      ...headers,
    });
    expect(response.text).toMatch(chat.terminator);
    return response.text.match(/^:/gm)?.length ?? 0;
  };
  expect(await read({ 'x-stainless-read-timeout': '2' })).toBe(1);
  expect(await read({ 'x-stainless-read-timeout': '600' })).toBe(0);
});
