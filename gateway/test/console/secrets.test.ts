import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '#administration/index.ts';
import { totpCode, totpStep } from '#identity/totp.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { submitted, synthesis } from '../behaviour/video-requests.ts';
import { calls } from './calls.ts';
import { ask, password, secrets, signInAs, startWithPeople } from './people.ts';
import { logIn, type Person } from './person.ts';

/* Secrets in every column that has some, and in the file: none of them comes out, wherever somebody looks. */

const upstreamKey = 'canary-upstream-0123456789abcdef';
/** The simulator refuses it, and repeats a part of it as vendors do. */
const refusedKey = 'invalid-canary-0123456789abcdef';
/** What looks at a task are sent with; its row has it. */
const videoKey = 'canary-video-0123456789abcdef';
const upstreamHeader = 'canary-header-0123456789abcdef';
/** Of the gateway at a provider where nobody listens. */
const clientSecret = 'canary-client-0123456789abcdef';
const config = `
oidc: { issuer: 'http://127.0.0.1:9', client_id: sluice, client_secret: ${clientSecret} }
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat], api_key: ${upstreamKey}, headers: { x-canary: ${upstreamHeader} } }
  - { name: refused, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-reasoning], api_key: ${refusedKey} }
  - { name: videos, provider: simulator, base_url: SIMULATOR, models: [demo-video-1], api_key: ${videoKey} }
models:
  - { id: demo-video-1, type: video, price: { video_second: { 720P: 0.1 } } }
users:
  - { email: admin@example.com, role: admin, balance: 100 }
aliases: { fast: demo-chat }
teams:
  - { name: red }
keys:
  - { name: admins, user: admin@example.com, secret: ${secrets.admin} }
  - { name: rotated, user: admin@example.com }
`;

let gateway: TestGateway;
let admin: Person;
/** Everything that was logged, as text. */
const logged: string[] = [];

beforeAll(async () => {
  const keep = (...parts: readonly unknown[]) => void logged.push(JSON.stringify(parts));
  gateway = await startWithPeople({
    publicUrl: 'http://gateway.test',
    config,
    logger: { info: keep, warn: keep, error: keep, request: keep },
  });
  admin = await signInAs(gateway, 'admin');
}, 60_000);
afterAll(() => gateway.close());

/** The secrets of the database as it is, and those that people and upstreams know. */
async function canaries(issued: readonly string[]): Promise<string[]> {
  const { kysely } = gateway.app.database;
  const users = await kysely.selectFrom('users').select(['password_hash', 'invite_hash']).execute();
  const keys = await kysely.selectFrom('keys').select(['hash', 'previous_hash']).execute();
  const channels = await kysely.selectFrom('channels').select('credentials').execute();
  const sessions = await kysely.selectFrom('sessions').select('id').execute();
  const factors = await kysely.selectFrom('second_factors').select('secret').execute();
  const recovery = await kysely.selectFrom('recovery_codes').select('hash').execute();
  const adminKeys = await kysely.selectFrom('admin_keys').select('hash').execute();
  const kept = [
    ...users.flatMap(({ password_hash: hash, invite_hash: invite }) => [hash, invite]),
    ...keys.flatMap(({ hash, previous_hash: previous }) => [hash, previous]),
    ...channels.map(({ credentials }) => credentials),
    ...sessions.map(({ id }) => id),
    ...factors.map(({ secret }) => secret),
    ...recovery.map(({ hash }) => hash),
    ...adminKeys.map(({ hash }) => hash),
  ].filter((value) => value !== null);
  const cookie = admin.cookie.split('; ').map((each) => each.slice(each.indexOf('=') + 1));
  const known = [
    password,
    upstreamKey,
    refusedKey,
    upstreamHeader,
    videoKey,
    clientSecret,
    secrets.admin,
    ...cookie,
    ...issued,
  ];
  // A password, an invitation, keys with an earlier secret, a channel, a session, an admin key.
  expect(kept.length).toBeGreaterThanOrEqual(8);
  return [...kept, ...known];
}

test('S-10 S-13 no secret is in a response, an export, the log or the audit', async () => {
  const refused = await ask(gateway, secrets.admin, 'demo-reasoning');
  const request = await ask(gateway, secrets.admin);
  const { id: task } = await submitted(
    gateway.url,
    synthesis,
    { model: 'demo-video-1', resolution: '720P', seconds: 5 },
    { key: secrets.admin },
  );
  await gateway.usage();
  const made = (await (await admin.send('POST', '/keys', { name: 'made' })).json()) as {
    readonly id: string;
    readonly key: string;
  };
  const rotated = await admin.send('POST', `/keys/${made.id}/rotate`, { grace: '1h' });
  const next = (await rotated.json()) as { readonly key: string };
  const invited = (await (
    await admin.send('POST', '/users', { email: 'invited@example.com' })
  ).json()) as { readonly id: string };
  const invitation = await admin.send('POST', `/users/${invited.id}/invite`, {});
  const { link } = (await invitation.json()) as { readonly link: string };
  const token = link.slice(link.indexOf('#') + 1);
  const begun = await admin.send('POST', '/me/totp', { password });
  const { secret: factor } = (await begun.json()) as { readonly secret: string };
  const enabled = await admin.send('PUT', '/me/totp', {
    code: totpCode(factor, totpStep(Date.now())),
  });
  const { recovery_codes: recovery } = (await enabled.json()) as {
    readonly recovery_codes: readonly string[];
  };
  const automated = await admin.send('POST', '/admin-keys', { name: 'automated', role: 'viewer' });
  const adminKey = (await automated.json()) as { readonly id: string; readonly key: string };
  const headers = { authorization: `Bearer ${adminKey.key}` };
  expect((await fetch(`${gateway.url}/admin/v1/health`, { headers })).status).toBe(200);
  const lines = await listAudit(gateway.app.database.kysely, { limit: 100 });
  const session = (await (await admin.get('/me/sessions')).json()) as { data: { id: string }[] };
  const { kysely } = gateway.app.database;
  const { id: channel } = await kysely
    .selectFrom('channels')
    .select('id')
    .executeTakeFirstOrThrow();
  const ids: Readonly<Record<string, string>> = {
    '/usage/nothing': request,
    '/tasks/nothing': task,
    '/keys/nothing': made.id,
    '/channels/nothing': channel,
    '/models/nothing': 'demo-chat',
    '/aliases/nothing': 'fast',
    '/users/nothing': invited.id,
    '/teams/nothing': 'red',
    '/teams/nothing/members': 'red',
    '/accounts/user/nothing/entries': invited.id,
    '/me/sessions/nothing': session.data[0]?.id ?? '',
  };

  const revoked = await admin.send('DELETE', `/admin-keys/${adminKey.id}`, {});
  const texts: string[] = [...logged, JSON.stringify(lines), await revoked.text()];
  const reads = calls.filter(
    ({ method, address }) =>
      method === 'GET' && address !== '/usage/live' && !address.startsWith('/auth/oidc/'),
  );
  for (const { address } of reads) {
    const path = ids[address] === undefined ? address : address.replace('nothing', ids[address]);
    const queries = {
      '/usage/sums': ['?by=key'],
      '/usage/export': ['?format=csv', '?format=jsonl'],
      '/audit/export': ['?format=csv', '?format=jsonl'],
      '/keys/nothing': ['', '?as=yaml'],
    }[address] ?? [''];
    for (const query of queries) {
      const response = await admin.get(path + query);
      const text = await response.text();
      expect([path, response.status, text.length > 0]).toEqual([path, 200, true]);
      texts.push(text);
    }
  }
  // Of a request that failed, with what its upstream said.
  const failed = await (await admin.get(`/usage/${refused}`)).text();
  expect(JSON.parse(failed)).toMatchObject({
    message: expect.stringContaining('credential'),
    attempts: [{ result: 'credential-refused', words: expect.stringContaining('API key') }],
  });
  texts.push(failed);
  // Of a repeated call and a change.
  const change = await admin.send(
    'PATCH',
    `/keys/${made.id}`,
    { rpm: 30 },
    { 'if-match': rotated.headers.get('etag') ?? '' },
  );
  expect(change.status).toBe(200);
  texts.push(await change.text());

  const all = await canaries([made.key, next.key, token, adminKey.key, factor, ...recovery]);
  const found = all.filter((secret) => texts.some((text) => text.includes(secret)));
  expect(found).toEqual([]);
});

test('S-10 a hash opens nothing', async () => {
  const { kysely } = gateway.app.database;
  const { password_hash: hash } = await kysely
    .selectFrom('users')
    .select('password_hash')
    .where('email', '=', 'admin@example.com')
    .executeTakeFirstOrThrow();
  expect((await logIn(gateway.url, 'admin@example.com', hash ?? '')).status).toBe(401);
  const session = await kysely.selectFrom('sessions').select('id').executeTakeFirstOrThrow();
  const response = await fetch(`${gateway.url}/admin/v1/session`, {
    headers: { cookie: `sluice_session=${session.id}` },
  });
  expect(response.status).toBe(401);
});
