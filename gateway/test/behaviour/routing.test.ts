import { describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { ask, describeChannels, rowOf, shareGateway } from './support.ts';
import { textProtocols } from './text-protocols.ts';

const vipKey = 'sk-vip-0123456789abcdefghijklmnopqrstuv';
const narrowKey = 'sk-narrow-0123456789abcdefghijklmnopqrst';
const chat = textProtocols[0]!;

const channels = describeChannels([
  { name: 'high', models: ['ranked -> demo-chat'], more: ['priority: 5'] },
  { name: 'low', models: ['ranked -> demo-chat'], more: ['priority: 1'] },
  { name: 'heavy', models: ['weighed -> demo-chat'], more: ['weight: 3'] },
  { name: 'light', models: ['weighed -> demo-chat'], more: ['weight: 1'] },
  { name: 'weightless', models: ['weighed -> demo-chat'], more: ['weight: 0'] },
  { name: 'vip', models: ['vip-only -> demo-chat', 'both -> demo-chat'], more: ['groups: [vip]'] },
  {
    name: 'everyone',
    models: [
      'both -> demo-chat',
      'plain',
      'target',
      'off',
      'unpriced',
      'demo-reasoning',
      'paint',
      'film',
    ],
  },
  { name: 'cli', models: ['cli-only -> demo-chat'], more: ['user_agents: ["claude-cli/*"]'] },
  { name: 'chat-only', models: ['spoken -> demo-chat'], more: [] },
  { name: 'switched-off', models: ['dark'], more: ['enabled: false'] },
]);

const shared = shareGateway({
  config: `
groups: [{ name: vip, price_multiplier: 1 }]
${channels
  .replace(/(chat-only"[\s\S]*?protocols: )\[[^\]]*\]/, '$1[chat]')
  .replace(/id: "off", type: chat/, 'id: "off", type: chat, enabled: false')
  .replace(/id: "paint", type: chat/, 'id: "paint", type: image')
  .replace(/id: "film".*/, 'id: "film", type: video, price: { video_second: { 720p: 0.1 } } }')
  .replace(/(id: "unpriced", type: chat), price: \{[^}]*\}/, '$1')}
aliases: { nickname: target, demo-reasoning: target }
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: vip, user: tester@example.com, secret: ${vipKey}, group: vip }
  - { name: narrow, user: tester@example.com, secret: ${narrowKey}, models: [plain, target] }
`,
});
const as = (key: string) => ({ authorization: `Bearer ${key}` });
const call = async (model: string, headers: Record<string, string> = {}) => {
  const response = await ask(shared.gateway, chat, false, model, headers);
  const row = await rowOf(shared.gateway, response.id);
  const message = response.status === 200 ? null : chat.errorMessage(JSON.parse(response.text));
  return {
    status: response.status,
    message,
    channel: row.channel,
    outcome: row.outcome,
    attempts: row.attempts.length,
  };
};
const refused = (status: number, message: string) => ({
  status,
  message,
  channel: null,
  outcome: 'refused',
  attempts: 0,
});
const unavailable = (model: string, why = '') =>
  refused(400, `model '${model}' is not available, please use a different model${why}`);

test('the channel of the highest priority answers', async () => {
  for (let turn = 0; turn < 10; turn += 1) expect((await call('ranked')).channel).toBe('high');
});

test('weights divide the requests; a channel of weight 0 is the last resort', async () => {
  const total = 240;
  for (let sent = 0; sent < total; sent += 20) {
    await Promise.all(
      Array.from({ length: 20 }, () => ask(shared.gateway, chat, false, 'weighed')),
    );
  }
  const rows = (await shared.gateway.usage()).filter(({ model }) => model === 'weighed');
  const share = (name: string) => rows.filter(({ channel }) => channel === name).length;
  expect(rows).toHaveLength(total);
  expect(share('weightless')).toBe(0);
  // Three quarters of 240 are 180; five standard deviations are 34.
  expect(share('heavy')).toBeGreaterThan(146);
  expect(share('heavy')).toBeLessThan(214);
});

describe('S-01 a group sees only its own channels', () => {
  test('the key’s group selects the channels', async () => {
    expect(await call('both')).toMatchObject({ status: 200, channel: 'everyone' });
    expect(await call('both', as(vipKey))).toMatchObject({ status: 200, channel: 'vip' });
    expect(await call('vip-only', as(vipKey))).toMatchObject({ status: 200, channel: 'vip' });
  });
  test('a model of another group is unavailable', async () => {
    expect(await call('vip-only')).toEqual(unavailable('vip-only'));
    expect(await call('plain', as(vipKey))).toEqual(unavailable('plain'));
  });
  test('a name that nobody has gets the one that was probably meant, if the key may use it', async () => {
    expect(await call('vip_onyl')).toEqual(unavailable('vip_onyl'));
    expect(await call('vip_onyl', as(vipKey))).toEqual(
      unavailable('vip_onyl', ": did you mean 'vip-only'?"),
    );
    expect(await call('Target')).toEqual(unavailable('Target', ": did you mean 'target'?"));
    expect(await call('something-else')).toEqual(unavailable('something-else'));
  });
  test.each(textProtocols)(
    'the error has $name’s own shape, whichever header carries the key',
    async (protocol) => {
      for (const headers of [
        as(testKey),
        { authorization: '', 'x-api-key': testKey },
        { authorization: '', 'x-goog-api-key': testKey },
      ]) {
        const response = await ask(shared.gateway, protocol, false, 'vip-only', headers);
        expect(response.status).toBe(400);
        expect(protocol.errorMessage(JSON.parse(response.text))).toBe(
          unavailable('vip-only').message,
        );
      }
    },
  );
});

test('a channel for certain clients answers only those', async () => {
  expect(await call('cli-only', { 'user-agent': 'claude-cli/2.1 (external)' })).toMatchObject({
    status: 200,
    channel: 'cli',
  });
  expect(await call('cli-only', { 'user-agent': 'curl/8' })).toEqual(
    refused(403, 'this channel requires a specific client, please use one that it accepts'),
  );
});

test('a request by alias reaches its model, and the response has the alias as its model', async () => {
  const response = await ask(shared.gateway, chat, false, 'nickname');
  expect(JSON.parse(response.text)).toMatchObject({ model: 'nickname' });
  expect(shared.gateway.simulator.requests().at(-1)?.json).toMatchObject({ model: 'target' });
  expect(await rowOf(shared.gateway, response.id)).toMatchObject({
    model: 'nickname',
    status: 200,
  });
});

test('an alias with the name of a bundled model wins, even over a channel that lists that model', async () => {
  for (const headers of [as(testKey), as(narrowKey)]) {
    const response = await ask(shared.gateway, chat, false, 'demo-reasoning', headers);
    expect(response.status).toBe(200);
    expect(shared.gateway.simulator.requests().at(-1)?.json).toMatchObject({ model: 'target' });
  }
  const list = await fetch(`${shared.gateway.url}/v1/models`, { headers: as(testKey) });
  const { data } = (await list.json()) as { data: { id: string }[] };
  expect(data.filter(({ id }) => id === 'demo-reasoning')).toHaveLength(1);
});

test.each(textProtocols)(
  '$name: models of other kinds are listed but not available',
  async (protocol) => {
    const list = await fetch(`${shared.gateway.url}/v1/models`, { headers: as(testKey) });
    const { data } = (await list.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(['paint', 'film']));
    // In a chat and with generateContent, image models make pictures.
    const makesImages = ['chat', 'generate-content'].includes(protocol.name);
    for (const model of makesImages ? ['film'] : ['paint', 'film']) {
      for (const stream of [false, true]) {
        const response = await ask(shared.gateway, protocol, stream, model);
        expect(response.status).toBe(400);
        expect(protocol.errorMessage(JSON.parse(response.text))).toBe(unavailable(model).message);
        expect(await rowOf(shared.gateway, response.id)).toMatchObject({
          outcome: 'refused',
          attempts: [],
        });
      }
    }
  },
);

test('a key’s allowlist includes aliases of allowed models', async () => {
  expect((await call('plain', as(narrowKey))).status).toBe(200);
  expect((await call('nickname', as(narrowKey))).status).toBe(200);
  expect(await call('both', as(narrowKey))).toEqual(
    refused(403, "model 'both' is not allowed for this API key"),
  );
  expect((await call('no-such-model', as(narrowKey))).status).toBe(403);
});

test('disabled, unpriced, unknown and unserved models and unsupported protocols are refused', async () => {
  expect(await call('off')).toEqual(refused(403, "model 'off' is not available"));
  expect(await call('unpriced')).toEqual(unavailable('unpriced', ': no price is set'));
  expect(await call('no-such-model')).toEqual(unavailable('no-such-model'));
  expect(await call('dark')).toEqual(unavailable('dark'));
  expect((await call('spoken')).status).toBe(200);
});
