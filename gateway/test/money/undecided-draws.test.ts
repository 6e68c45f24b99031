import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listUsage } from '#usage/index.ts';
import { createTestDatabase, isSkipped } from '../database/databases.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/* A response is about to cost more than it holds while the database is unreachable, so nobody can decide about a draw. */

const chunk = (content: string): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
/** USD: 1 000 tokens of output, and half of the bytes of the request. */
const held = '1.000039';
const usage = { prompt_tokens: 10, completion_tokens: 500_000 };

describe.skipIf(isSkipped('postgres'))('while the database is unreachable', () => {
  let gateway: TestGateway;
  let upstream: OwnUpstream;
  let way: TcpProxy;
  const closing: (() => Promise<unknown>)[] = [];
  beforeEach(async () => {
    const database = await createTestDatabase('postgres');
    upstream = await startOwnUpstream();
    const { hostname, port } = new URL(database.url);
    way = await startTcpProxy(hostname, Number(port));
    gateway = await startTestGateway({
      databaseUrl: database.url.replace(`:${port}/`, `:${way.port}/`),
      config: `
channels:
  - { name: own, provider: simulator, base_url: "${upstream.url}", models: [long] }
models:
  - { id: long, type: chat, max_output_tokens: 1000, price: { input: 1, output: 1000 } }
users:
  - { email: rich@example.com, balance: 100000 }
keys:
  - { name: rich, user: rich@example.com, secret: ${testKey} }
`,
    });
    closing.push(gateway.close, upstream.close, database.drop);
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  const ask = async (stream: boolean) => {
    const messages = [{ role: 'user', content: 'hello' }];
    const response = await gateway.post('/v1/chat/completions', {
      model: 'long',
      stream,
      messages,
    });
    const text = await response.text().catch(String);
    way.restore();
    const id = response.headers.get('x-request-id');
    const row = () =>
      expect.poll(
        async () => {
          const { data } = await listUsage(gateway.app.database.kysely, { limit: 10 });
          return data.find((one) => one.id === id) ?? null;
        },
        { timeout: 10_000 },
      );
    return { status: response.status, text, row };
  };

  test('a stream ends when it is beyond what it holds by the overshoot', async () => {
    const send = async (response: ServerResponse): Promise<void> => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk('begin'));
      way.cut();
      // 250 tokens at a time, up to 50 000.
      for (let at = 0; at < 200 && response.writable; at += 1) {
        await wait(20);
        response.write(chunk('x'.repeat(1_000)));
      }
      response.end('data: [DONE]\n\n');
    };
    upstream.answer = (_request, response) => void send(response);
    const { text, row } = await ask(true);
    expect(text).not.toContain('[DONE]');
    expect(text).toContain('"code":"service_unavailable"');
    await row().toMatchObject({ cost: held, attempts: [{ result: 'overspent' }] });
  });

  test('a report beyond what was asked for costs what is held', async () => {
    const send = async (response: ServerResponse): Promise<void> => {
      way.cut();
      await wait(100);
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { role: 'assistant', content: 'hi' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      response.end(
        JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices, usage }),
      );
    };
    upstream.answer = (_request, response) => void send(response);
    const { status, row } = await ask(false);
    expect(status).toBe(200);
    await row().toMatchObject({ outcome: 'completed', cost: held });
  });
});
