import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { submitted, synthesis } from '../behaviour/video-requests.ts';
import { openVideoUpstream, videoConfig } from '../support/video-upstream.ts';
import { secrets, signInAs, startWithPeople } from './people.ts';

const upstream = await openVideoUpstream();
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startWithPeople({
    config: videoConfig(
      upstream.url,
      `
users:
  - { email: member@example.com, balance: 100, quota: 40 }
  - { email: mate@example.com }
  - { email: stranger@example.com }
teams:
  - name: crew
    balance: 50
    budget: { daily: 10, monthly: 30 }
    members: [{ user: member@example.com, budget: 5 }, { user: mate@example.com, budget: 7 }]
  - { name: others, balance: 10, budget: { total: 3 }, members: [{ user: stranger@example.com }] }
keys:
  - { name: crews, user: member@example.com, team: crew, quota: 4, secret: ${secrets.member} }
  - { name: mates, user: mate@example.com, team: crew, quota: 2 }
`,
    ),
  });
}, 60_000);
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

interface Limit {
  readonly of: string;
  readonly name: string;
  readonly kind: string;
  readonly limit: string;
  readonly spent: string;
  readonly held: string;
  readonly window: { readonly from: string; readonly to: string } | null;
  readonly shared_by?: number;
}

async function limitsOf(who: string): Promise<readonly Limit[]> {
  const person = await signInAs(gateway, who);
  const { data } = (await (await person.get('/me/limits')).json()) as { data: Limit[] };
  return data;
}

test('a member sees what is left and held of the own money, and of the team’s, but not of other members', async () => {
  // It holds 0.5 USD of everything that its key spends.
  await submitted(
    gateway.url,
    synthesis,
    { resolution: '720P', seconds: 5 },
    { key: secrets.member },
  );
  const limits = await limitsOf('member');
  expect(limits.map(({ of, name, kind, limit, held }) => [of, name, kind, limit, held])).toEqual([
    ['person', 'member@example.com', 'balance', '100', '0'],
    ['person', 'member@example.com', 'quota', '40', '0'],
    ['key', 'crews', 'quota', '4', '0.5'],
    ['team', 'crew', 'balance', '50', '0.5'],
    ['team', 'crew', 'daily', '10', '0.5'],
    ['team', 'crew', 'monthly', '30', '0.5'],
    ['team', 'crew', 'member', '5', '0.5'],
  ]);
  const byKind = new Map(limits.map((limit) => [limit.kind, limit]));
  expect(byKind.get('daily')).toMatchObject({ shared_by: 2, spent: '0' });
  const { from, to } = byKind.get('daily')!.window!;
  expect(Date.parse(to) - Date.parse(from)).toBe(86_400_000);
  expect(byKind.get('member')).toMatchObject({ window: null });
});

test('the quota of a key is shown until the key is revoked', async () => {
  const person = await signInAs(gateway, 'mate');
  const keys = async () =>
    (await limitsOf('mate')).flatMap(({ of, name }) => (of === 'key' ? [name] : []));
  const made = await person.send('POST', '/keys', { name: 'brief', quota: '3' });
  const { id } = (await made.json()) as { readonly id: string };
  expect((await keys()).toSorted()).toEqual(['brief', 'mates']);
  await person.send('POST', `/keys/${id}/revoke`, {});
  expect(await keys()).toEqual(['mates']);
});

test('others see theirs', async () => {
  const limits = await limitsOf('stranger');
  expect(limits.map(({ name, kind, limit }) => [name, kind, limit])).toEqual([
    ['stranger@example.com', 'balance', '0'],
    ['others', 'balance', '10'],
    ['others', 'total', '3'],
  ]);
});
