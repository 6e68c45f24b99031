import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { ask, attemptsOf, rowOf } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/* R-16 An upstream's own pings: signs of life, and for clients of the same protocol. */

const [chat, , messages] = textProtocols;
const idleMs = 1_000;
const pingMs = 250;

let gateway: TestGateway;
let upstream: OwnUpstream;

beforeAll(async () => {
  upstream = await startOwnUpstream();
  gateway = await startTestGateway({
    config: `
channels:
  - { name: own, provider: anthropic, base_url: "${upstream.url}", api_key: k, models: [m], timeouts: { stream_idle: ${idleMs}ms } }
models: [{ id: m, type: chat, price: { input: 1, output: 2 } }]
`,
  });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const beginning =
  event('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 3, output_tokens: 1 },
    },
  }) +
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'so' } });
const ending =
  event('content_block_stop', { index: 0 }) +
  event('message_delta', {
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 5 },
  }) +
  event('message_stop');

/** Sends some content, `pings` pings, and then what `after` does. */
function answerWithPings(pings: number, after: (response: ServerResponse) => void): void {
  upstream.answer = (_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(beginning);
    let sent = 0;
    const timer = setInterval(() => {
      sent += 1;
      if (sent <= pings) response.write(event('ping'));
      else {
        clearInterval(timer);
        after(response);
      }
    }, pingMs);
  };
}

/** Twice as long as the upstream may be silent. */
const manyPings = (2 * idleMs) / pingMs;
const pingsIn = (text: string): number => text.split('event: ping\n').length - 1;

test('pings are passed on to Messages clients and keep the stream alive; silence after them does not', async () => {
  answerWithPings(manyPings, (response) => response.end(ending));
  const whole = await ask(gateway, messages!, true, 'm');
  expect(pingsIn(whole.text)).toBe(manyPings);
  expect(whole.text).toMatch(messages!.terminator);
  expect(await rowOf(gateway, whole.id)).toMatchObject({
    outcome: 'completed',
    tokens: { input: 3, output: 5 },
  });

  answerWithPings(1, () => {});
  const silent = await ask(gateway, messages!, true, 'm');
  expect(pingsIn(silent.text)).toBe(1);
  expect(silent.text).not.toMatch(messages!.terminator);
  expect(silent.text.trimEnd().split('\n\n').at(-1)).toMatch(messages!.errorFrame);
  expect(attemptsOf(await rowOf(gateway, silent.id))).toMatchObject([
    { class: 'shown', result: 'idle-timeout' },
  ]);
});

test('pings keep a converted stream alive too', async () => {
  answerWithPings(manyPings, (response) => response.end(ending));
  const response = await ask(gateway, chat!, true, 'm');
  expect(response.text).toMatch(chat!.terminator);
  expect(response.text).not.toContain('ping');
  expect(await rowOf(gateway, response.id)).toMatchObject({ outcome: 'completed' });
});

test('pings are not logged as errors of the gateway', () => {
  expect(gateway.errors).toEqual([]);
});
