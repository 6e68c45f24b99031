import { expect, test } from 'vitest';
import { openGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';

/* P-16: nothing of a response tells of another caller: no id, no name, no sum of theirs. */

const secretOf = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;
const config = `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat, responses, messages, generate-content], models: [demo-chat] }
models:
  - { id: demo-chat, type: chat, price: { input: 1000, output: 2000 } }
users:
  - { email: mine@example.com, balance: 100 }
  - { email: colleague@example.com, balance: 100 }
  - { email: stranger@example.com, balance: 100 }
teams:
  - { name: ours, time_zone: UTC, balance: 100, members: [{ user: mine@example.com, role: member }, { user: colleague@example.com, role: member }] }
  - { name: theirs, time_zone: UTC, balance: 100, members: [{ user: stranger@example.com, role: member }] }
keys:
  - { name: my-key, user: mine@example.com, team: ours, secret: ${secretOf('mine')} }
  - { name: colleague-key, user: colleague@example.com, team: ours, secret: ${secretOf('colleague')} }
  - { name: stranger-key, user: stranger@example.com, team: theirs, secret: ${secretOf('stranger')} }`;

test('P-16 a stranger’s request changes nothing, whether refused or answered', async () => {
  const gateway = await openGateway({ config });
  const seen: string[] = [];
  const send = async (name: string, path: string, init: RequestInit = {}): Promise<number> => {
    const headers = {
      authorization: `Bearer ${secretOf(name)}`,
      'content-type': 'application/json',
    };
    const response = await fetch(gateway.url + path, { ...init, headers });
    const text = await response.text();
    if (name === 'mine') seen.push(JSON.stringify([...response.headers]), text);
    return response.status;
  };
  const post = (name: string, path: string, body: unknown) =>
    send(name, path, { method: 'POST', body: JSON.stringify(body) });

  for (const name of ['stranger', 'colleague', 'mine']) {
    for (const protocol of textProtocols) {
      for (const stream of [false, true]) {
        const path = protocol.path('demo-chat', stream);
        expect(await post(name, path, protocol.body('demo-chat', stream))).toBe(200);
      }
    }
  }
  const { kysely } = gateway.app.database;
  const rows = await gateway.usage();
  const others = rows.filter(({ key }) => key !== 'my-key');
  expect(others).toHaveLength(16);

  for (const path of [
    '/v1/models',
    '/v1beta/models',
    '/v1/models/demo-chat',
    '/health',
    '/ready',
  ]) {
    expect(await send('mine', path)).toBe(200);
  }
  expect(await send('mine', '/v1/usage')).toBe(200);
  for (const { id } of others) expect(seen.join('\n')).not.toContain(id);
  for (const { id } of others) {
    for (const path of ['/v1/models/', '/v1/responses/', '/v1beta/models/']) {
      expect(await send('mine', path + id)).not.toBe(200);
    }
    expect(await post('mine', '/v1/responses', { model: id, input: 'hi' })).toBe(400);
  }
  for (const key of ['stranger', 'colleague']) {
    for (const question of ['key', 'user', 'team']) {
      await send('mine', `/v1/usage?${question}=${key}-key`);
    }
  }

  const users = await kysely.selectFrom('users').select(['id', 'email']).execute();
  const keys = await kysely.selectFrom('keys').select(['id', 'name']).execute();
  const teams = await kysely.selectFrom('teams').select(['id', 'name']).execute();
  const theirs = [
    ...users.filter(({ email }) => email !== 'mine@example.com').flatMap(Object.values<string>),
    ...keys.filter(({ name }) => name !== 'my-key').flatMap(Object.values<string>),
    ...teams.filter(({ name }) => name === 'theirs').flatMap(Object.values<string>),
  ];
  expect(theirs.length).toBeGreaterThanOrEqual(10);
  const told = seen.join('\n');
  for (const word of theirs) expect(told).not.toContain(word);
  const { cost } = JSON.parse(seen.find((text) => text.includes('"object":"usage"'))!) as {
    cost: string;
  };
  const mine = rows.filter(({ key }) => key === 'my-key');
  const sum = mine.reduce((total, row) => total + Number(row.cost), 0);
  expect(Number(cost)).toBeCloseTo(sum, 9);
});
