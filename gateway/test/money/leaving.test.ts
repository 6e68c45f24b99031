import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { UsageEntry } from '#usage/index.ts';
import { openTcpServer, rawPost, sendRaw, until, type RawClient } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { startTestGateway, testKey } from '../support/gateway.ts';
import { largeResponseBytes } from '../support/large-response.ts';
import { answerWith, usageAt } from '../support/own-upstream.ts';
import {
  assertBilledExactly,
  ownChannel,
  payer,
  shareBilledGateway,
  simulatorChannel,
} from './billed-gateway.ts';
import { keyQuota, nanoOf } from './books.ts';

/* Clients who leave at the moment that suits them best: what an upstream did for them is paid for. */

/** 25 tokens by the estimate. */
const question = 'x'.repeat(100);

const shared = shareBilledGateway({
  balance: 1_000_000,
  channels: `
${simulatorChannel({ name: 'sim', model: 'priced' })}
${simulatorChannel({ name: 'short', model: 'short', more: 'timeouts: { total: 10s }' })}
${simulatorChannel({ name: 'charging', model: 'charging', more: 'bills_after_cancel: true' })}
${ownChannel({ name: 'own', model: 'own' })}
`,
  models: ['priced', 'charging', 'own'],
  moreModels:
    '  - { id: short, type: chat, context_window: 4000000, max_output_tokens: 30000000, price: { input: 1, output: 2 } }',
  settings: 'limits: { in_flight: 20, key_concurrency: 20 }',
});

/** The rows that came since. */
async function rowsAfter<T>(count: number, act: () => Promise<T>): Promise<readonly UsageEntry[]> {
  const before = (await shared.gateway.usage()).length;
  await act();
  await until(
    async () => (await shared.gateway.usage()).length >= before + count,
    'the rows',
    15_000,
  );
  const rows = await shared.gateway.usage();
  expect(rows).toHaveLength(before + count);
  return rows.slice(0, count);
}

const costOf = ({ tokens }: UsageEntry): bigint =>
  BigInt(tokens.input) * 1_000_000n + BigInt(tokens.output) * 2_000_000n;

function open(body: object, path: string, fault = ''): Promise<RawClient> {
  return sendRaw(shared.gateway.url, rawPost(path, body, [`x-simulator-fault: ${fault}`]));
}

describe.each(textProtocols)('$name', (protocol) => {
  test('before the head of a stream: the input', async () => {
    shared.gateway.simulator.clear();
    const [row] = await rowsAfter(1, async () => {
      const body = protocol.body('priced', true, question);
      const client = await open(body, protocol.path('priced', true), 'delay=5000');
      await until(() => shared.gateway.simulator.requests().length === 1, 'the upstream was asked');
      await wait(50);
      client.socket.resetAndDestroy();
    });
    expect(row).toMatchObject({ outcome: 'client-left', tokens: { output: 0 } });
    expect(row!.tokens.input).toBeGreaterThanOrEqual(25);
    expect(nanoOf(row!.cost)).toBe(costOf(row!));
  });

  test('more at once than may be drained: those are charged in full, the others their input', async () => {
    shared.gateway.simulator.clear();
    const rows = await rowsAfter(10, async () => {
      const body = protocol.body('priced', false, question);
      const clients = await Promise.all(
        Array.from({ length: 10 }, () => open(body, protocol.path('priced', false), 'delay=1500')),
      );
      await until(() => shared.gateway.simulator.requests().length === 10, 'all were asked');
      for (const { socket } of clients) socket.resetAndDestroy();
    });
    // A twentieth of twenty.
    expect(rows.filter(({ outcome }) => outcome === 'completed')).toHaveLength(1);
    for (const row of rows) {
      expect(row.tokens.input).toBeGreaterThanOrEqual(25);
      expect(nanoOf(row.cost)).toBe(costOf(row));
    }
  });

  test('the same for streams that are charged in full', async () => {
    shared.gateway.simulator.clear();
    const leavers = 6;
    const rows = await rowsAfter(leavers, async () => {
      const body = protocol.body('charging', true, question);
      const clients = await Promise.all(
        Array.from({ length: leavers }, () =>
          open(body, protocol.path('charging', true), 'events=100;gap=30'),
        ),
      );
      await until(() => clients.every((client) => client.received().includes('data: ')), 'content');
      for (const { socket } of clients) socket.resetAndDestroy();
    });
    const { simulator } = shared.gateway;
    await until(() => simulator.aborted() === leavers - 1, 'all but one were cancelled');
    const most = Math.max(...rows.map(({ tokens }) => tokens.output));
    expect(rows.filter(({ tokens }) => tokens.output === most)).toHaveLength(1);
    for (const row of rows) {
      expect(row.outcome).toBe('client-left');
      expect(nanoOf(row.cost)).toBe(costOf(row));
    }
  });
});

test('media given only by URL count as input too', async () => {
  shared.gateway.simulator.clear();
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a' } };
  const content = [{ type: 'text', text: question }, image, image];
  const [row] = await rowsAfter(1, async () => {
    const body = { model: 'priced', stream: true, messages: [{ role: 'user', content }] };
    const client = await open(body, '/v1/chat/completions', 'delay=5000');
    await until(() => shared.gateway.simulator.requests().length === 1, 'the upstream was asked');
    client.socket.resetAndDestroy();
  });
  expect(row).toMatchObject({ outcome: 'client-left', tokens: { output: 0 } });
  expect(row!.tokens.input).toBeGreaterThanOrEqual(2_025);
  expect(nanoOf(row!.cost)).toBe(costOf(row!));
});

test('an unreachable upstream has done nothing', async () => {
  // Accepts and never answers a TLS greeting.
  const tried = Promise.withResolvers<void>();
  const mute = await openTcpServer(() => tried.resolve());
  const port = new URL(mute).port;
  const other = await startTestGateway({
    config: `
channels:
  - { name: mute, provider: openai-compatible, base_url: "https://127.0.0.1:${port}", api_keys: [k], protocols: [chat], models: [mute] }
models: [{ id: mute, type: chat, price: { input: 1000, output: 2000 } }]
users: [{ email: ${payer}, balance: 10 }]
keys: [{ name: test, user: ${payer}, secret: ${testKey} }]
`,
  });
  try {
    const client = await sendRaw(
      other.url,
      rawPost('/v1/chat/completions', {
        model: 'mute',
        stream: true,
        messages: [{ role: 'user', content: question }],
      }),
    );
    await tried.promise;
    client.socket.resetAndDestroy();
    await until(async () => (await other.usage()).length === 1, 'its row');
    expect(await other.usage()).toMatchObject([
      { outcome: 'client-left', cost: null, attempts: [{ class: 'not-sent', status: null }] },
    ]);
  } finally {
    await other.close();
  }
});

test('chat: between the finish reason and the usage: the usage, including hidden reasoning', async () => {
  let response: ServerResponse | null = null;
  const chunk = (value: object): string => `data: ${JSON.stringify({ id: 'c', ...value })}\n\n`;
  shared.upstream.answer = (_request, given) => {
    response = given;
    given.writeHead(200, { 'content-type': 'text/event-stream' });
    given.write(
      chunk({ choices: [{ index: 0, delta: { content: '42' }, finish_reason: null }] }) +
        chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    );
  };
  const [row] = await rowsAfter(1, async () => {
    const body = {
      model: 'own',
      stream: true,
      messages: [{ role: 'user', content: question }],
    };
    const client = await open(body, '/v1/chat/completions');
    await until(() => client.received().includes('"stop"'), 'the response but for its usage');
    client.socket.resetAndDestroy();
    await wait(100);
    response?.end(
      `${chunk({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 900, completion_tokens_details: { reasoning_tokens: 890 } } })}data: [DONE]\n\n`,
    );
  });
  expect(row).toMatchObject({ tokens: { input: 30, output: 900 }, estimated: false });
  expect(nanoOf(row!.cost)).toBe(30n * 1_000_000n + 900n * 2_000_000n);
});

test('a client that reads slowly until the deadline pays for what it received', async () => {
  shared.gateway.simulator.clear();
  const [row] = await rowsAfter(1, async () => {
    const body = { model: 'short', stream: true, messages: [{ role: 'user', content: question }] };
    const client = await open(
      body,
      '/v1/chat/completions',
      `gap=0;events=4000;text-bytes=${largeResponseBytes}`,
    );
    client.socket.pause();
    await until(() => shared.gateway.simulator.aborted() === 1, 'the time is over', 15_000);
    client.socket.resume();
    await until(() => client.latest(5) === '0\r\n\r\n', 'the end', 8_000);
    expect(client.received()).not.toMatch(/^data: \[DONE\]$/m);
    expect(client.received()).toContain('upstream response abnormal');
  });
  expect(row).toMatchObject({ outcome: 'client-left', estimated: true });
  expect(row!.tokens.output).toBeGreaterThan(10_000);
  expect(nanoOf(row!.cost)).toBeGreaterThan(0n);
});

describe('work that continues at the upstream', () => {
  const background = (stream: boolean) => ({
    model: 'own',
    background: true,
    stream,
    input: question,
  });

  test('a background response is refused, because nobody could be charged for it', async () => {
    shared.upstream.clear();
    const response = await shared.gateway.post('/v1/responses', background(false));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { param: 'background', message: 'background is supported with stream only' },
    });
    expect(shared.upstream.asked).toEqual([]);
  });

  test('a streamed one continues when its client disconnects, and is charged in full', async () => {
    const end = answerWith(usageAt('/v1/responses', 30, 900));
    let finish = (): void => {};
    shared.upstream.answer = (asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"so"}\n\n`,
      );
      const rest = { writeHead: () => rest, end: (text: string) => response.end(text) };
      finish = () => end(asked, rest as unknown as ServerResponse);
    };
    const [row] = await rowsAfter(1, async () => {
      const client = await open(background(true), '/v1/responses');
      await until(() => client.received().includes('"so"'), 'some of it');
      client.socket.resetAndDestroy();
      await wait(200);
      finish();
    });
    expect(row).toMatchObject({ outcome: 'client-left', tokens: { input: 30, output: 900 } });
    expect(nanoOf(row!.cost)).toBe(30n * 1_000_000n + 900n * 2_000_000n);
  });

  test.each([
    ['/v1/responses', { model: 'own', input: 'go on', previous_response_id: 'resp_1' }],
    ['/v1/responses', { model: 'own', input: 'go on', conversation: 'conv_1' }],
    ['/v1/responses', { model: 'own', prompt: { id: 'pmpt_1' } }],
    ['/v1beta/models/own:generateContent', { contents: [], cachedContent: 'cachedContents/1' }],
    ['/v1beta/models/own:generateContent', { contents: [], cached_content: 'cachedContents/1' }],
  ])('%s %j is held for the whole window', async (path, body) => {
    let finish: (() => void) | null = null;
    const answer = answerWith(usageAt(path, 3_000, 10));
    shared.upstream.answer = (asked, response) => {
      finish = () => answer(asked, response);
    };
    const pending = shared.gateway.post(path, body);
    await until(() => finish !== null, 'the upstream was asked');
    // 4 000 of input, which may all go into a cache, 1 000 of output.
    expect((await keyQuota(shared.gateway, testKey)).held).toBe(7_000_000_000n);
    (finish as (() => void) | null)?.();
    expect((await pending).status).toBe(200);
  });
});

test('the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
