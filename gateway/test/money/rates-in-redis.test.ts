import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, openGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { scrape, valueOf } from '../observability/support.ts';
import { canStartRedis, type PrivateRedis, startPrivateRedis } from '../limits/private-redis.ts';

/*
 * Redis is asked for the rates while a short body is read. What a client sees is the same as if the body had waited for
 * the answer.
 */

const secretOf = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;
const kinds = ['poor', 'text', 'model', 'type', 'long', 'stream'];
const config = (redisUrl: string) => `
redis: { url: ${redisUrl} }
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat, responses, messages, generate-content], models: [demo-chat] }
users:
  - { email: rich@example.com, balance: 100 }
  - { email: poor@example.com, balance: 0 }
models:
  - { id: demo-chat, type: chat, price: { input: 1, output: 2 } }
keys:
${textProtocols
  .flatMap(({ name }) =>
    kinds.map((kind) => {
      const user = kind === 'poor' ? 'poor' : 'rich';
      const id = `${kind}-${name}`;
      return `  - { name: ${id}, user: ${user}@example.com, secret: ${secretOf(id)}, quota: 50, rpm: 1, max_concurrency: 1 }`;
    }),
  )
  .join('\n')}`;

interface Usage {
  readonly limits: { readonly key_quota: { readonly held: string } };
}

describe.skipIf(!canStartRedis)('counted in Redis', () => {
  let redis: PrivateRedis;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());

  test('a used-up rate is reported before any other fault, and nothing is held', async () => {
    const gateway = await openGateway({ config: config(redis.url) });
    for (const protocol of textProtocols) {
      const path = protocol.path('demo-chat', false);
      const body = JSON.stringify(protocol.body('demo-chat', false));
      const send = async (kind: string): Promise<number> => {
        const headers = {
          authorization: `Bearer ${secretOf(`${kind}-${protocol.name}`)}`,
          ...(kind === 'type' && { 'content-type': 'text/plain' }),
        };
        if (kind === 'stream') {
          return (await ask(gateway, protocol, true, 'demo-chat', headers)).status;
        }
        const text = {
          text: body.slice(0, -1),
          model: body.replace('demo-chat', 'unknown'),
          long: JSON.stringify(protocol.body('demo-chat', false, 'x'.repeat(70_000))),
        }[kind];
        const at = kind === 'model' ? path.replace('demo-chat', 'unknown') : path;
        const response = await gateway.post(at, text ?? body, headers);
        await response.text();
        return response.status;
      };
      const first = { poor: 402, text: 400, model: 400, type: 415, long: 200, stream: 200 };
      for (const [kind, status] of Object.entries(first)) {
        expect([protocol.name, kind, await send(kind)]).toEqual([protocol.name, kind, status]);
        // Its refusal comes from Redis: this node has not heard of it yet.
        expect([protocol.name, kind, await send(kind)]).toEqual([protocol.name, kind, 429]);
      }
    }
    const counted = await scrape(gateway.url);
    const refusals = (error: string) => valueOf(counted, 'sluice_refusals_total', { error });
    expect(refusals('rate_limited')).toBe(textProtocols.length * kinds.length);
    expect(refusals('unsupported_content_type')).toBe(textProtocols.length);
    for (const protocol of textProtocols) {
      for (const kind of kinds) {
        const authorization = `Bearer ${secretOf(`${kind}-${protocol.name}`)}`;
        const held = async (): Promise<string> => {
          const response = await fetch(`${gateway.url}/v1/usage`, { headers: { authorization } });
          const { limits } = (await response.json()) as Usage;
          return limits.key_quota.held;
        };
        await expect.poll(held).toBe('0');
      }
    }
    const slots = (await redis.command('KEYS', 'sluice:slots:*')) as string[];
    for (const slot of slots) await expect.poll(() => redis.command('ZCARD', slot)).toBe(0);
  });
});
