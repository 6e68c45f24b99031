import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { openGateway, shareGateway, until } from './support.ts';
import { textProtocols } from './text-protocols.ts';

const key = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuv`;
const channel = `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat, responses, messages, generate-content], models: [demo-chat] }
`;
const shared = shareGateway({
  config: `${channel}
users:
  - { email: tester@example.com, balance: 100 }
  - { email: gone@example.com, balance: 100, enabled: false }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: second, user: tester@example.com, secret: ${key('second')} }
  - { name: expired, user: tester@example.com, secret: ${key('expired')}, expires_at: 2020-01-01T00:00:00Z }
  - { name: disabled, user: tester@example.com, secret: ${key('disabled')}, enabled: false }
  - { name: orphan, user: gone@example.com, secret: ${key('orphan')} }
  - { name: fenced, user: tester@example.com, secret: ${key('fenced')}, ips: [203.0.113.0/24] }
`,
});

const carriers = {
  authorization: (secret: string) => ({ authorization: `Bearer ${secret}` }),
  'x-api-key': (secret: string) => ({ 'x-api-key': secret }),
  'x-goog-api-key': (secret: string) => ({ 'x-goog-api-key': secret }),
};

describe.each(textProtocols)('S-01 $name: keys that do not open', (protocol) => {
  const call = async (headers: Record<string, string>) => {
    const response = await fetch(shared.gateway.url + protocol.path('demo-chat', false), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(protocol.body('demo-chat', false)),
    });
    const text = await response.text();
    return [
      response.status,
      response.status === 200 ? null : protocol.errorMessage(JSON.parse(text)),
    ];
  };

  test('a missing key is refused', async () => {
    expect(await call({})).toEqual([401, 'missing api key']);
  });

  test.each(Object.entries(carriers))(
    'in %s: good, unknown, expired, disabled, of a disabled user, outside its addresses',
    async (_name, carry) => {
      expect(await call(carry(testKey))).toEqual([200, null]);
      for (const name of ['unknown', 'expired', 'disabled', 'orphan']) {
        expect([name, await call(carry(key(name)))]).toEqual([name, [401, 'invalid api key']]);
      }
      expect(await call(carry(key('fenced')))).toEqual([
        403,
        'ip address is not allowed for this API key',
      ]);
    },
  );

  test('two headers with the same key are accepted, different keys are refused even if both are valid', async () => {
    expect(
      await call({ ...carriers.authorization(testKey), ...carriers['x-api-key'](testKey) }),
    ).toEqual([200, null]);
    expect(
      await call({ ...carriers.authorization(testKey), ...carriers['x-api-key'](key('second')) }),
    ).toEqual([401, 'invalid api key']);
    expect(
      await call({
        ...carriers['x-goog-api-key'](key('unknown')),
        ...carriers['x-api-key'](testKey),
      }),
    ).toEqual([401, 'invalid api key']);
  });
});

test('unauthenticated requests reach no upstream and leave no row', async () => {
  const { gateway } = shared;
  const before = [(await gateway.usage()).length, gateway.simulator.requests().length];
  await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body: '{}' });
  expect([(await gateway.usage()).length, gateway.simulator.requests().length]).toEqual(before);
});

test('a key that expires is refused from then on, while a running stream continues', async () => {
  const accounts = (more: string) => `
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey}${more} }]
`;
  const gateway = await openGateway({ config: `${channel}${accounts('')}` });
  const { parseConfig } = await import('#config/index.ts');
  const [chat] = textProtocols;
  const running = await gateway.post(chat!.path('demo-chat', true), chat!.body('demo-chat', true), {
    'x-simulator-fault': 'gap=400;events=10',
  });
  expect(running.status).toBe(200);
  const expires = new Date(Date.now() + 1_000);
  const { dataDir } = gateway.app;
  const text = `
server: { port: 0 }
storage: { url: "sqlite:${dataDir}/test.db", data_dir: "${dataDir}" }
${channel.replaceAll('SIMULATOR', gateway.simulator.url)}
${accounts(`, expires_at: ${JSON.stringify(expires.toISOString())}`)}`;
  await gateway.app.reload(
    parseConfig(text, { file: 'test.yaml', environment: {}, bundledModels: ['demo-chat'] }),
  );
  await until(
    async () =>
      (await gateway.post(chat!.path('demo-chat', false), chat!.body('demo-chat', false)))
        .status === 401,
    'the key is refused',
    10_000,
  );
  expect(Date.now()).toBeGreaterThanOrEqual(expires.getTime());
  expect(await running.text()).toMatch(chat!.terminator);
});

test('keys and models of a reloaded file take effect at once; running streams continue under load', async () => {
  const { gateway } = { gateway: await openGateway() };
  const { parseConfig } = await import('#config/index.ts');
  const [chat] = textProtocols;
  const streams = Array.from({ length: 20 }, async () => {
    const response = await gateway.post(
      chat!.path('demo-chat', true),
      chat!.body('demo-chat', true),
      {
        'x-simulator-fault': 'gap=60;events=20',
      },
    );
    return response.text();
  });
  await until(() => gateway.simulator.requests().length === 20, 'all streams run');
  const reload = (channels: string, secret: string) =>
    gateway.app.reload(
      parseConfig(
        `
server: { port: 0 }
storage: { url: "sqlite:${gateway.app.dataDir}/test.db", data_dir: "${gateway.app.dataDir}" }
channels:
  - { name: ${channels}, provider: simulator, base_url: "${gateway.simulator.url}", protocols: [chat], models: [demo-chat] }
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`,
        { file: 'test.yaml', environment: {}, bundledModels: ['demo-chat', 'demo-reasoning'] },
      ),
    );
  for (let round = 0; round < 3; round += 1) {
    await reload(`renamed-${round}`, round === 2 ? key('changed') : testKey);
  }
  const ask = (secret: string) =>
    gateway.post(chat!.path('demo-chat', false), chat!.body('demo-chat', false), {
      authorization: `Bearer ${secret}`,
    });
  expect((await ask(key('changed'))).status).toBe(200);
  await until(async () => (await ask(testKey)).status === 401, 'the old secret is refused', 3_000);
  for (const text of await Promise.all(streams)) expect(text).toMatch(chat!.terminator);
  const rows = await gateway.usage();
  expect(
    rows.filter(({ channel, outcome }) => channel === 'sim' && outcome === 'completed'),
  ).toHaveLength(20);
  expect(rows[0]).toMatchObject({ channel: 'renamed-2', outcome: 'completed' });
});
