import { describe, expect, test } from 'vitest';
import { parseConfig } from '#config/index.ts';
import { ask, rowOf, shareGateway } from '../behaviour/support.ts';
import { eachCall } from '../behaviour/text-protocols.ts';
import { testKey } from '../support/gateway.ts';
import { keyQuota } from './books.ts';

/*
 * what could not be charged is not sent, whichever part its price lacks, and however the request comes. The parts
 * a text model needs are `input` and `output`.
 */

const all = 'protocols: [chat, responses, messages, generate-content]';

const incomplete = {
  none: null,
  empty: '{}',
  'input-only': '{ input: 1 }',
  'output-only': '{ output: 2 }',
  'all-but-output': '{ input: 1, cache_read: 1, cache_write: 1, cache_write_1h: 1 }',
  'all-but-input': '{ output: 1, cache_read: 1, cache_write: 1, cache_write_1h: 1 }',
  'free-input': '{ input: 0 }',
} as const;
const complete = {
  'both-parts': '{ input: 1, output: 2 }',
  'free-output': '{ input: 1, output: 0 }',
  free: '{ input: 0, output: 0 }',
} as const;

function configOf(prices: Readonly<Record<string, string | null>>): string {
  const served = Object.keys(prices).map((name) => `{ name: ${name}, upstream: demo-chat }`);
  const models = Object.entries(prices).map(
    ([id, price]) => `  - { id: ${id}, type: chat, price: ${price} }`,
  );
  return `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, ${all}, models: [${served.join(', ')}] }
  - { name: chat-only, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [{ name: converted, upstream: demo-chat }] }
models:
${models.join('\n')}
  - { id: converted, type: chat, price: { input: 1 } }
aliases: { other-name: input-only }
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey}, quota: 100 }]
`;
}

const shared = shareGateway({ config: configOf({ ...incomplete, ...complete }) });

describe.each(eachCall)('$name', ({ protocol, stream }) => {
  test.each([...Object.keys(incomplete), 'converted', 'other-name'])(
    '%s: refused before anything is sent or held',
    async (model) => {
      const { gateway } = shared;
      gateway.simulator.clear();
      const response = await ask(gateway, protocol, stream, model);
      expect(response.status).toBe(400);
      expect(protocol.errorMessage(JSON.parse(response.text))).toBe(
        `model '${model}' is not available, please use a different model: no price is set`,
      );
      expect(response.headers.get('x-should-retry')).toBe('false');
      expect(gateway.simulator.requests()).toEqual([]);
      const row = await rowOf(gateway, response.id);
      expect(row).toMatchObject({ model, outcome: 'refused', cost: null, attempts: [] });
      expect((await keyQuota(gateway, testKey)).held).toBe(0n);
    },
  );

  test.each(Object.keys(complete))('%s: answered', async (model) => {
    expect((await ask(shared.gateway, protocol, stream, model)).status).toBe(200);
  });
});

test('it is listed anyway, and answered as soon as its price is complete', async () => {
  const { gateway } = shared;
  const { protocol } = eachCall[0]!;
  const list = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${testKey}` },
  });
  const { data } = (await list.json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(incomplete)));

  const { dataDir } = gateway.app;
  const text = `
server: { port: 0 }
storage: { url: "sqlite:${dataDir}/test.db", data_dir: "${dataDir}" }
${configOf({ ...incomplete, 'input-only': '{ input: 1, output: 2 }' })}`;
  const about = { file: 'test.yaml', environment: {}, bundledModels: ['demo-chat'] };
  await gateway.app.reload(parseConfig(text.replaceAll('SIMULATOR', gateway.simulator.url), about));
  await gateway.app.refresh();
  for (const model of ['input-only', 'other-name']) {
    const response = await ask(gateway, protocol, false, model);
    expect([model, response.status]).toEqual([model, 200]);
    expect((await rowOf(gateway, response.id)).cost).toMatch(/^0\.0+[1-9]/);
  }
});
