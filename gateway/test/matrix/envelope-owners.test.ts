import { describe, expect, test } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { describeServed } from './gateway.ts';

const secret = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuv`;

const shared = shareGateway({
  config: `${describeServed([
    {
      name: 'secret-channel',
      protocols: ['generate-content'],
      models: [['thinks', 'gemini-3-reasoning']] as const,
    },
    { name: 'own', protocols: ['messages'], models: [['native', 'demo-chat']] as const },
  ])}
users:
  - { email: tester@example.com, balance: 100 }
  - { email: other@example.com, balance: 100 }
teams:
  - { name: crew, balance: 100, members: [{ user: tester@example.com }, { user: other@example.com }] }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: second, user: tester@example.com, secret: ${secret('second')} }
  - { name: other, user: other@example.com, secret: ${secret('other')} }
  - { name: crew-1, user: tester@example.com, team: crew, secret: ${secret('crew-1')} }
  - { name: crew-2, user: other@example.com, team: crew, secret: ${secret('crew-2')} }
`,
});

let conversations = 0;
/** Of a conversation of its own: what the owner's memory has of another one must not help. */
const begun = () => ({ role: 'user', content: `hello ${(conversations += 1)}` });
const thinking = { type: 'enabled', budget_tokens: 2000 };

async function ask(key: string, messages: readonly object[], model = 'thinks') {
  const response = await shared.gateway.post(
    '/v1/messages',
    { model, max_tokens: 4000, thinking, messages },
    { authorization: `Bearer ${key}` },
  );
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  const { content } = JSON.parse(text) as { content: readonly { signature?: string }[] };
  return { content, lost: response.headers.get('x-sluice-conversion') };
}

async function continued(key: string, by: string, model?: string) {
  const first = begun();
  const { content } = await ask(key, [first]);
  const history = [first, { role: 'assistant', content }, { role: 'user', content: 'and now?' }];
  const { lost } = await ask(by, history, model);
  const sent = shared.gateway.simulator.requests().at(-1)?.body ?? '';
  return { content, lost, thoughtReturned: /"thoughtSignature":"c2ltdWxhdG9y/.test(sent), sent };
}

describe('reasoning sealed for a client', () => {
  test('reveals neither the upstream’s model nor the channel', async () => {
    const { content } = await ask(testKey, [begun()]);
    const [signature = ''] = content.flatMap((block) => block.signature ?? []);
    expect(signature).toMatch(/^gw2\.[\w-]+$/);
    const bytes = Buffer.from(signature.slice(4), 'base64url').toString('latin1');
    expect(bytes).not.toMatch(/gemini|reasoning|ch_|secret-channel/);
  });

  test.each([
    ['the key itself', testKey, testKey],
    ['a second key of the user', testKey, secret('second')],
    ['another member’s key of the team', secret('crew-1'), secret('crew-2')],
  ])('returns to its vendor from %s', async (_, key, by) => {
    expect(await continued(key, by)).toMatchObject({
      lost: expect.not.stringContaining('reasoning.state'),
      thoughtReturned: true,
    });
  });

  test.each([
    ['another user', testKey, secret('other')],
    ['the user’s key of a team', testKey, secret('crew-1')],
    ['a member’s own key', secret('crew-1'), testKey],
  ])('is dropped, and recorded as lost, from %s', async (_, key, by) => {
    expect(await continued(key, by)).toMatchObject({
      lost: expect.stringContaining('dropped=reasoning.state'),
      thoughtReturned: false,
    });
  });

  test('never reaches an upstream of the client’s own protocol', async () => {
    const { lost, sent } = await continued(testKey, testKey, 'native');
    expect(lost).toBe('dropped=reasoning.state');
    expect(sent).toContain('and now?');
    expect(sent).not.toContain('gw2.');
  });
});
