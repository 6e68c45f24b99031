import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listAudit } from '#administration/index.ts';
import { totpCode, totpStep } from '#identity/totp.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { password, signInAs, startWithPeople } from './people.ts';
import { type Person, signIn } from './person.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startWithPeople();
});
afterAll(() => gateway.close());

const email = 'member@example.com';

async function logIn(code?: string, secret = password) {
  const response = await fetch(`${gateway.url}/admin/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url },
    body: JSON.stringify({ email, password: secret, ...(code !== undefined && { code }) }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return [response.status, error?.code ?? null, response.headers.getSetCookie().length] as const;
}

const signedIn = [200, null, 2];
const json = async <Body>(response: Promise<Response>) => (await (await response).json()) as Body;

/** The code of this moment. Those of before count as unused. */
async function freshCode(secret: string, ahead = 0): Promise<string> {
  await gateway.app.database.kysely.updateTable('second_factors').set({ last_step: 0 }).execute();
  return totpCode(secret, totpStep(Date.now()) + ahead);
}

let member: Person;
let secret: string;
let codes: readonly string[];

beforeEach(async () => {
  const { kysely } = gateway.app.database;
  await kysely.deleteFrom('recovery_codes').execute();
  await kysely.deleteFrom('second_factors').execute();
  member = await signIn(gateway.url, email, password);
  ({ secret } = await json<{ secret: string }>(member.send('POST', '/me/totp', { password })));
  const code = totpCode(secret, totpStep(Date.now()));
  ({ recovery_codes: codes } = await json<{ recovery_codes: string[] }>(
    member.send('PUT', '/me/totp', { code }),
  ));
});

test('is begun, shown, and in force once a code of it was', async () => {
  await member.send('DELETE', '/me/totp', { password });
  const begun = await member.send('POST', '/me/totp', { password });
  expect(begun.status).toBe(201);
  const { secret: next, uri } = (await begun.json()) as { secret: string; uri: string };
  expect(uri).toContain(`secret=${next}&issuer=Sluice`);
  // Nothing is asked for yet.
  expect(await logIn()).toEqual(signedIn);
  const wrong = await member.send('PUT', '/me/totp', { code: '000000' });
  expect(await wrong.json()).toMatchObject({ error: { fields: [{ path: 'code' }] } });
  expect(await logIn()).toEqual(signedIn);
  const right = await member.send('PUT', '/me/totp', { code: await freshCode(next) });
  const { recovery_codes: shown } = (await right.json()) as { recovery_codes: string[] };
  expect(new Set(shown).size).toBe(10);
  expect(await json(member.get('/me/totp'))).toEqual({
    enabled: true,
    since: expect.stringMatching(/Z$/),
    recovery_codes: 10,
    has_password: true,
    connected: false,
  });
  // Nobody replaces it by beginning again, and its secret is not shown again.
  expect((await member.send('POST', '/me/totp', { password })).status).toBe(409);
  expect((await member.send('PUT', '/me/totp', { code: await freshCode(next) })).status).toBe(409);
});

describe('signing in', () => {
  test('needs a code besides the password, and asks for it only once this is right', async () => {
    expect(await logIn(undefined, 'wrong')).toEqual([401, 'wrong_credentials', 0]);
    expect(await logIn(await freshCode(secret), 'wrong')).toEqual([401, 'wrong_credentials', 0]);
    expect(await logIn()).toEqual([401, 'second_factor_required', 0]);
    expect(await logIn('000000')).toEqual([401, 'wrong_code', 0]);
    expect(await logIn(await freshCode(secret))).toEqual(signedIn);
  });

  test('takes no code twice, nor one of before', async () => {
    const code = await freshCode(secret, 1);
    expect(await logIn(code)).toEqual(signedIn);
    expect(await logIn(code)).toEqual([401, 'wrong_code', 0]);
    const earlier = totpCode(secret, totpStep(Date.now()));
    expect(await logIn(earlier)).toEqual([401, 'wrong_code', 0]);
    expect(await logIn(await freshCode(secret))).toEqual(signedIn);
  });

  test('takes one code of several requests at once', async () => {
    const code = await freshCode(secret);
    const results = await Promise.all([logIn(code), logIn(code), logIn(code)]);
    expect(results.filter(([status]) => status === 200)).toHaveLength(1);
  });

  test('takes each recovery code once, as people type it, and puts that on record', async () => {
    const typed = ` ${codes[3]!.toUpperCase().replace('-', ' ')} `;
    expect(await logIn(typed)).toEqual(signedIn);
    expect(await logIn(codes[3])).toEqual([401, 'wrong_code', 0]);
    expect(await json(member.get('/me/totp'))).toMatchObject({ recovery_codes: 9 });
    const lines = await listAudit(gateway.app.database.kysely, { actor: email, limit: 2 });
    expect(lines.map(({ action, changes }) => [action, changes])).toEqual([
      ['session.create', []],
      ['user.update', [{ field: 'recovery_code', before: 'unused', after: 'used' }]],
    ]);
    expect(await logIn(codes[4])).toEqual(signedIn);
  });
});

describe('is ended', () => {
  test.each(['password', 'code', 'recovery code'] as const)('with a %s', async (what) => {
    const body = {
      password: { password },
      code: { code: await freshCode(secret) },
      'recovery code': { code: codes[0]! },
    }[what];
    expect((await member.send('DELETE', '/me/totp', { code: '000000' })).status).toBe(400);
    expect((await member.send('DELETE', '/me/totp', { password: 'wrong' })).status).toBe(400);
    expect((await member.send('DELETE', '/me/totp', {})).status).toBe(400);
    expect((await member.send('DELETE', '/me/totp', { ...body })).status).toBe(200);
    expect(await json(member.get('/me/totp'))).toMatchObject({ enabled: false, recovery_codes: 0 });
  });

  test('by an administrator, on record', async () => {
    const admin = await signInAs(gateway, 'admin');
    expect(await json(admin.get(`/users/${email}`))).toMatchObject({ second_factor: true });
    expect(await json(admin.get('/sign-in'))).toMatchObject({
      password: 'everybody',
      oidc: null,
      people: { second_factor: 1, oidc: 0 },
    });
    // A link to set a new password takes no second factor away.
    const { link } = await json<{ link: string }>(admin.send('POST', `/users/${email}/invite`, {}));
    const accepted = await fetch(`${gateway.url}/admin/v1/auth/invite`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: gateway.url },
      body: JSON.stringify({ token: link.split('#')[1], password }),
    });
    expect([accepted.status, accepted.headers.getSetCookie()]).toEqual([401, []]);
    expect(await accepted.json()).toMatchObject({ error: { code: 'second_factor_required' } });
    expect(await json(admin.send('DELETE', `/users/${email}/totp`, {}))).toEqual({ ended: true });
    expect(await json(admin.send('DELETE', `/users/${email}/totp`, {}))).toEqual({ ended: false });
    expect(await json(admin.get(`/users/${email}`))).toMatchObject({ second_factor: false });
    const [line] = await listAudit(gateway.app.database.kysely, { object: email, limit: 1 });
    expect([line?.actor.name, line?.action, line?.changes]).toEqual([
      'admin@example.com',
      'user.update',
      [{ field: 'second_factor', before: true, after: false }],
    ]);
  });
});

test('the database has neither the secret nor a recovery code', async () => {
  const { kysely } = gateway.app.database;
  const rows = [
    await kysely.selectFrom('second_factors').selectAll().execute(),
    await kysely.selectFrom('recovery_codes').selectAll().execute(),
  ];
  const text = JSON.stringify(rows);
  expect(rows[1]).toHaveLength(10);
  for (const each of [secret, ...codes, ...codes.map((code) => code.replace('-', ''))]) {
    expect(text).not.toContain(each);
  }
});

test('nobody without a password has one', async () => {
  const { kysely } = gateway.app.database;
  const viewer = await signInAs(gateway, 'viewer');
  await kysely
    .updateTable('users')
    .set({ password_hash: null })
    .where('email', '=', 'viewer@example.com')
    .execute();
  const response = await viewer.send('POST', '/me/totp', {});
  expect(response.status).toBe(409);
});

// The last: the address of this machine waits from then on.
test('whoever has the password and guesses codes is slowed down', async () => {
  const results: unknown[] = [];
  // To show the password alone in between resets nothing. Waits double, so that one is met however slow the machine is.
  for (let at = 0; results.at(-1) !== 'too_many' && at < 20; at += 1) {
    results.push((await logIn(at % 2 === 0 ? '111111' : undefined))[1]);
  }
  expect(results.slice(0, 5)).toEqual([
    'wrong_code',
    'second_factor_required',
    'wrong_code',
    'second_factor_required',
    'wrong_code',
  ]);
  expect(results.at(-1)).toBe('too_many');
});
