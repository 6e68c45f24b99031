import { expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { ask, rowOf, shareGateway } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/* `*` in a channel's models and in the name of an alias. */

const narrowKey = 'sk-narrow-0123456789abcdefghijklmnopqrst';
const chat = textProtocols[0]!;
const price = 'price: { input: 1, output: 1 }';

const shared = shareGateway({
  config: `
channels:
  - name: claude
    provider: simulator
    base_url: SIMULATOR
    protocols: [messages]
    models: ['claude-*', { name: claude-opus-5-5, upstream: demo-chat }]
  - { name: own, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: ['own-*', 'nothing-*', demo-chat] }
models:
  - { id: own-a, type: chat, ${price} }
  - { id: own-off, type: chat, enabled: false, ${price} }
  - { id: own-picture, type: image, ${price} }
  - { id: claude-own, type: chat, ${price} }
  - { id: claude-opus-5-5, type: chat, ${price} }
aliases:
  'claude-*': own-a
  'gemini-*': own-a
  'gemini-*lite*': demo-chat
  gemini-exact: claude-own
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: narrow, user: tester@example.com, secret: ${narrowKey}, models: [own-a] }
`,
});

const call = async (model: string, key = testKey) => {
  const response = await ask(shared.gateway, chat, false, model, {
    authorization: `Bearer ${key}`,
  });
  const row = await rowOf(shared.gateway, response.id);
  return [response.status, row.channel, row.upstream_model ?? undefined];
};

test.each([
  ['claude-sonnet-5-5', 'claude', 'claude-sonnet-5-5'],
  // A declared model counts at once; the exact name of the channel wins; a dated name is the model's.
  ['claude-own', 'claude', 'claude-own'],
  ['claude-opus-5-5', 'claude', 'demo-chat'],
  ['claude-haiku-4-5-20251001', 'claude', 'claude-haiku-4-5'],
  ['own-a', 'own', 'own-a'],
  // Nothing has this name.
  ['claude-unheard-of', 'own', 'own-a'],
  // Only the bundled list has these, so they hide no pattern; the pattern with more literal text is in force.
  ['gemini-2.5-pro', 'own', 'own-a'],
  ['gemini-3.5-flash-lite', 'own', 'demo-chat'],
  ['gemini-exact', 'claude', 'claude-own'],
])('%s is served by %s as %s', async (model, channel, upstream) => {
  expect(await call(model)).toEqual([200, channel, upstream]);
});

test.each(['own-picture', 'unheard-of', 'claude-*'.slice(0, 6), `gemini-${'x'.repeat(300)}`])(
  '%s is not served',
  async (model) => {
    expect(await call(model)).toEqual([400, null, undefined]);
  },
);

test('a disabled model is named as such', async () => {
  expect(await call('own-off')).toEqual([403, null, undefined]);
});

test('the allowlist of a key means the model that a pattern leads to', async () => {
  expect(await call('gemini-2.5-pro', narrowKey)).toEqual([200, 'own', 'own-a']);
  expect((await call('gemini-3.5-flash-lite', narrowKey))[0]).toBe(403);
});

test('patterns are not listed, what they bring is', async () => {
  const response = await fetch(`${shared.gateway.app.url}/v1/models`, {
    headers: { authorization: `Bearer ${testKey}` },
  });
  const { data } = (await response.json()) as { data: { id: string }[] };
  const names = data.map(({ id }) => id);
  expect(names).toContain('claude-sonnet-5-5');
  expect(names).toContain('own-a');
  for (const name of ['claude-*', 'own-*', 'own-off', 'own-picture', 'gemini-2.5-pro']) {
    expect(names).not.toContain(name);
  }
});
