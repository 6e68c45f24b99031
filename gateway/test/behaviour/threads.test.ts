import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { accounts, ask, idOf } from './state-gateway.ts';

/*
 * Threads of Messages: the vendor has the conversation, and a request continues it with what is new. The official SDK
 * sends the whole conversation by itself when an error says in `details` that the thread cannot be continued.
 */

let first: OwnUpstream;
let second: OwnUpstream;
let gateway: TestGateway;
let count = 0;

beforeAll(async () => {
  [first, second] = await Promise.all([startOwnUpstream(), startOwnUpstream()]);
  const channel = (name: string, url: string, more: string) =>
    `  - { name: ${name}, provider: anthropic, base_url: "${url}", api_key: k, models: [claude-m], ${more} }\n`;
  gateway = await startTestGateway({
    config: `
channels:
${channel('first', first.url, 'weight: 1')}${channel('second', second.url, 'weight: 1')}
  - { name: chat, provider: openai-compatible, base_url: "${first.url}", api_key: k, models: [converted] }
models:
  - { id: claude-m, type: chat, price: { input: 1, output: 2 } }
  - { id: converted, type: chat, price: { input: 1, output: 2 } }
${accounts}`,
  });
});
afterAll(() => Promise.all([gateway.close(), first.close(), second.close()]));
beforeEach(() => {
  for (const upstream of [first, second]) {
    upstream.clear();
    upstream.answer = (_asked, response) => {
      count += 1;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          id: `msg_thread${count}`,
          type: 'message',
          role: 'assistant',
          model: 'claude-m',
          content: [{ type: 'text', text: 'so' }],
          stop_reason: 'end_turn',
          usage: { input_tokens: 3, output_tokens: 1 },
        }),
      );
    };
  }
});

const begun = {
  model: 'claude-m',
  max_tokens: 9,
  anthropic_beta: ['threads-2026-10-01'],
  messages: [{ role: 'user', content: 'hello' }],
  thread: { type: 'create' },
};
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'fine' };
const continued = (id: string) => ({
  ...begun,
  messages: [{ role: 'user', content: [result] }],
  thread: { type: 'continue', previous_message_id: id },
});
const detailsOf = ({ json }: { readonly json: Record<string, unknown> }): unknown =>
  (json['error'] as { details?: unknown }).details;

test('a continued thread stays on its channel, and its messages are not repaired', async () => {
  for (let turn = 0; turn < 8; turn += 1) {
    const id = idOf(await ask(gateway, 'alice', '/v1/messages', begun));
    const home = first.asked.length > 0 ? first : second;
    const next = await ask(gateway, 'alice2', '/v1/messages', continued(id));
    expect(next.status).toBe(200);
    expect(next.headers.get('x-sluice-rewrites')).toBeNull();
    expect(home.asked).toHaveLength(2);
    expect(home.asked[1]?.body).toMatchObject({
      messages: [{ role: 'user', content: [result] }],
      thread: { type: 'continue', previous_message_id: id },
    });
    first.clear();
    second.clear();
  }
});

describe('the SDK is told to send the whole conversation', () => {
  test('if the thread is somebody else’s', async () => {
    const id = idOf(await ask(gateway, 'alice', '/v1/messages', begun));
    const refused = await ask(gateway, 'bob', '/v1/messages', continued(id));
    expect(refused.status).toBe(404);
    expect(detailsOf(refused)).toEqual({ error_code: 'thread_not_found' });
  });

  test('if its upstream says so, without the upstream’s words', async () => {
    const id = idOf(await ask(gateway, 'alice', '/v1/messages', begun));
    for (const upstream of [first, second]) {
      upstream.answer = (_asked, response) => {
        response.writeHead(400, { 'content-type': 'application/json' });
        const details = {
          error_code: 'thread_unsupported_request',
          unsupported: ['thinking', 'Secret words.'],
          more: 'secret',
        };
        const error = { type: 'invalid_request_error', message: 'secret', details };
        response.end(JSON.stringify({ type: 'error', error }));
      };
    }
    const refused = await ask(gateway, 'alice', '/v1/messages', continued(id));
    expect(refused.status).toBe(400);
    expect(detailsOf(refused)).toEqual({
      error_code: 'thread_unsupported_request',
      unsupported: ['thinking'],
    });
    expect(refused.text.toLowerCase()).not.toContain('secret');
  });

  test('if the model is behind another protocol', async () => {
    const refused = await ask(gateway, 'alice', '/v1/messages', { ...begun, model: 'converted' });
    expect(refused.status).toBe(400);
    expect(detailsOf(refused)).toEqual({
      error_code: 'thread_unsupported_request',
      unsupported: ['model'],
    });
  });
});
