import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '#administration/index.ts';
import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';
import { createTestDatabase, isSkipped, type TestDatabase } from '../database/databases.ts';
import {
  clientId,
  clientSecret,
  type IdentityProvider,
  passProvider,
  PlainBrowser,
  startIdentityProvider,
} from './identity-provider.ts';
import { password, setPassword, signInAs, startWithPeople } from './people.ts';
import { logIn, type Person, signIn } from './person.ts';

/* Signing in at a provider of OpenID Connect, which is `oidc-provider`: it shares no code with the gateway. */

/** Where people reach the gateway, as the provider knows it. */
const publicUrl = 'http://gateway.test';
const callback = `${publicUrl}/admin/v1/auth/oidc/callback`;

const people = `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, models: [demo-chat] }
users:
  - { email: admin@example.com, role: admin }
  - { email: of-file@example.com, role: member }
keys: []
`;

const settingsOf = ({ issuer }: IdentityProvider, more: string) => `
oidc: { issuer: '${issuer}', client_id: ${clientId}, client_secret: ${clientSecret}, name: Acme, ${more} }
${people}`;

const groups =
  'scopes: [openid, email, profile, groups], role_claim: groups, role_map: { ops: operator, root: admin }';

let provider: IdentityProvider;
let gateway: TestGateway;
const warnings: string[] = [];

beforeAll(async () => {
  provider = await startIdentityProvider([callback]);
  gateway = await startWithPeople({
    publicUrl,
    config: settingsOf(provider, `domains: [example.com], ${groups}`),
    logger: { warn: (message, fields) => void warnings.push(JSON.stringify([message, fields])) },
  });
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

const at = (url: string, { url: own }: TestGateway) => url.replace(publicUrl, own);

/** Where the gateway sends a browser that begins. */
async function begin(browser: PlainBrowser, to = '/console', on = gateway): Promise<string> {
  const response = await browser.go(
    `${on.url}/admin/v1/auth/oidc/start?to=${encodeURIComponent(to)}`,
  );
  expect(response.status).toBe(303);
  return response.headers.get('location') ?? '';
}

/** Where the gateway leads a browser that comes back, with the word of its problem. */
async function comeBack(browser: PlainBrowser, url: string, on = gateway) {
  const response = await browser.go(at(url, on));
  const location = new URL(response.headers.get('location') ?? '');
  return {
    status: response.status,
    page: location.origin + location.pathname,
    problem: location.searchParams.get('problem'),
    request: location.searchParams.get('request'),
    cookies: response.headers.getSetCookie(),
  };
}

async function signInThrough(subject: string, browser = new PlainBrowser(), on = gateway) {
  const back = await passProvider(browser, await begin(browser, '/console/keys', on), subject);
  const result = await comeBack(browser, back, on);
  return { ...result, browser, back };
}

async function sessionOf(browser: PlainBrowser, { url } = gateway) {
  const response = await fetch(`${url}/admin/v1/session`, {
    headers: { cookie: browser.cookieOf(url) },
  });
  if (response.status !== 200) return response.status;
  const { user } = (await response.json()) as {
    user: { email: string; name: string; role: string };
  };
  return user;
}

const person = (email: string, more = {}) => ({ email, email_verified: true, ...more });

test('the page of the sign-in learns where it leads', async () => {
  const response = await fetch(`${gateway.url}/admin/v1/auth/methods`);
  expect(await response.json()).toEqual({
    password: 'everybody',
    oidc: { name: 'Acme', start: `${publicUrl}/admin/v1/auth/oidc/start` },
  });
});

test('a new person gets an account, and the page that was asked for', async () => {
  provider.people.set('s-new', person('Grace@example.com', { name: 'Grace', groups: ['ops'] }));
  const { status, page, cookies, browser } = await signInThrough('s-new');
  expect([status, page]).toEqual([303, `${publicUrl}/console/keys`]);
  expect(cookies).toEqual([
    expect.stringMatching(
      /^sluice_oidc_[\w-]{8}=; Path=\/admin\/v1\/auth\/oidc\/callback; Max-Age=0; HttpOnly; SameSite=Lax$/,
    ),
    expect.stringMatching(/^sluice_session=.*HttpOnly; SameSite=Strict$/),
  ]);
  expect(await sessionOf(browser)).toMatchObject({
    email: 'grace@example.com',
    name: 'Grace',
    role: 'operator',
  });
  const lines = await listAudit(gateway.app.database.kysely, {
    actor: 'grace@example.com',
    limit: 10,
  });
  expect(lines.map(({ action, changes }) => [action, changes.at(-1)])).toEqual([
    ['session.create', { field: 'method', before: null, after: 'oidc' }],
    ['user.link', { field: 'issuer', before: null, after: provider.issuer }],
    ['user.create', expect.anything()],
  ]);
});

describe('the way there', () => {
  test('has a state, a nonce and a challenge, and leads back to the exact address', async () => {
    const browser = new PlainBrowser();
    const { searchParams } = new URL(await begin(browser));
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: callback,
      scope: 'openid email profile groups',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    // Sealed: the browser learns neither the nonce nor the verifier from it.
    expect(browser.cookieOf(gateway.url)).toMatch(/^sluice_oidc_[\w-]{8}=v1\.[\w-]+$/);
  });

  test.each([
    'https://evil.example/console',
    '//evil.example/console',
    '/\\evil.example',
    '/console//evil.example',
    '/console/../admin/v1/session',
    '/console/%0d%0aset-cookie:x\n',
    '/consoles',
    '/',
  ])('leads to no page but those of the console: %s', async (to) => {
    const url = `${gateway.url}/admin/v1/auth/oidc/start?to=${encodeURIComponent(to)}`;
    const response = await fetch(url, { redirect: 'manual' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { fields: [{ path: 'to' }] } });
  });
});

test('two tabs of one browser sign in side by side', async () => {
  provider.people.set('s-tabs', person('tabs@example.com'));
  const browser = new PlainBrowser();
  const first = await begin(browser, '/console/keys');
  const second = await begin(browser, '/console/usage');
  const pages = [];
  for (const there of [first, second]) {
    pages.push((await comeBack(browser, await passProvider(browser, there, 's-tabs'))).page);
  }
  expect(pages).toEqual([`${publicUrl}/console/keys`, `${publicUrl}/console/usage`]);
});

describe('nobody gets in', () => {
  beforeAll(() => {
    provider.people.set('s-in', person('in@example.com'));
  });

  test('with another state', async () => {
    const browser = new PlainBrowser();
    const back = new URL(await passProvider(browser, await begin(browser), 's-in'));
    back.searchParams.set('state', 'x'.repeat(43));
    expect(await comeBack(browser, back.href)).toMatchObject({ problem: 'not-begun' });
    expect(await sessionOf(browser)).toBe(401);
  });

  test('with a token for another nonce', async () => {
    const browser = new PlainBrowser();
    const there = new URL(await begin(browser));
    there.searchParams.set('nonce', 'x'.repeat(43));
    const back = await passProvider(browser, there.href, 's-in');
    expect(await comeBack(browser, back)).toMatchObject({ problem: 'not-proven' });
    expect(await sessionOf(browser)).toBe(401);
  });

  test('in another browser', async () => {
    const browser = new PlainBrowser();
    const back = await passProvider(browser, await begin(browser), 's-in');
    const other = new PlainBrowser();
    expect(await comeBack(other, back)).toMatchObject({ problem: 'not-begun' });
    // Nor in one that has begun itself.
    await begin(other);
    expect(await comeBack(other, back)).toMatchObject({ problem: 'not-begun' });
    expect(await sessionOf(other)).toBe(401);
  });

  test('twice with one code, or with two codes of one sign-in', async () => {
    const browser = new PlainBrowser();
    const there = await begin(browser);
    const first = await passProvider(browser, there, 's-in');
    const second = await passProvider(browser, there, 's-in');
    const cookie = browser.cookieOf(gateway.url);
    const replay = async (url: string) => {
      const response = await fetch(at(url, gateway), { redirect: 'manual', headers: { cookie } });
      return new URL(response.headers.get('location') ?? '').searchParams.get('problem');
    };
    expect(await replay(first)).toBe(null);
    expect(await replay(second)).toBe('repeated');
    expect(await replay(first)).toBe('not-proven');
  });

  test.each([
    ['s-unverified', { email: 'in@example.com', email_verified: false }, 'email-not-verified'],
    ['s-silent', { email: 'in@example.com' }, 'email-not-verified'],
    ['s-nameless', {}, 'no-email'],
    ['s-foreign', person('in@example.org'), 'other-domain'],
    ['s-longer', person('in@evil-example.com'), 'other-domain'],
  ])('as %s', async (subject, claims, problem) => {
    provider.people.set(subject, claims);
    const { browser, ...result } = await signInThrough(subject);
    expect(result).toMatchObject({ page: `${publicUrl}/console/sign-in`, problem });
    expect(result.request).toMatch(/^[\w-]+$/);
    expect(await sessionOf(browser)).toBe(401);
  });

  test('who was disabled', async () => {
    provider.people.set('s-leaver', person('leaver@example.com'));
    await signInThrough('s-leaver');
    await gateway.app.database.kysely
      .updateTable('users')
      .set({ enabled: 0 })
      .where('email', '=', 'leaver@example.com')
      .execute();
    expect(await signInThrough('s-leaver')).toMatchObject({ problem: 'disabled' });
  });

  test('who says no at the provider', async () => {
    const browser = new PlainBrowser();
    const { searchParams } = new URL(await begin(browser));
    const back = `${callback}?error=access_denied&state=${searchParams.get('state')}&iss=${encodeURIComponent(provider.issuer)}`;
    const { problem, request } = await comeBack(browser, back);
    expect(problem).toBe('denied');
    expect(warnings.find((line) => line.includes(request!))).toContain('access_denied');
  });
});

describe('accounts that were there before', () => {
  const admin = () => signInAs(gateway, 'admin');

  test('of a member: linked by its address, and by its subject ever after', async () => {
    provider.people.set('s-file', person('of-file@example.com', { groups: ['root'] }));
    const first = await signInThrough('s-file');
    // What the file says of a person stands.
    expect(await sessionOf(first.browser)).toMatchObject({
      email: 'of-file@example.com',
      role: 'member',
    });
    provider.people.set('s-file', person('renamed@example.com'));
    const { browser } = await signInThrough('s-file');
    expect(await sessionOf(browser)).toMatchObject({ email: 'of-file@example.com' });
    // Somebody else has the address now.
    provider.people.set('s-successor', person('of-file@example.com'));
    expect(await signInThrough('s-successor')).toMatchObject({ problem: 'other-identity' });
  });

  test('above a member: only by somebody who is signed in to them', async () => {
    provider.people.set('s-admin', person('admin@example.com'));
    expect(await signInThrough('s-admin')).toMatchObject({ problem: 'link-first' });

    const { send, cookie } = await admin();
    const origin = { origin: publicUrl };
    const begun = await send('POST', '/me/oidc', { password }, origin);
    const { location } = (await begun.json()) as { location: string };
    const browser = new PlainBrowser();
    browser.keep(gateway.url, begun);
    const back = await passProvider(browser, location, 's-admin');
    expect(await comeBack(browser, back)).toMatchObject({
      page: `${publicUrl}/console/settings`,
      problem: null,
    });
    // The session is the one that there was.
    expect(await sessionOf(browser)).toBe(401);
    expect(cookie).toContain('sluice_session=');
    const { browser: next } = await signInThrough('s-admin');
    expect(await sessionOf(next)).toMatchObject({ email: 'admin@example.com', role: 'admin' });
  });

  test('are disconnected by the person or an administrator, while a password remains', async () => {
    const email = 'mover@example.com';
    provider.people.set('s-mover', person(email));
    const { browser } = await signInThrough('s-mover');
    const { send, get } = await admin();
    const found = async () =>
      (await (await get(`/users/${email}`)).json()) as { readonly connected: boolean };
    const disconnect = () => send('DELETE', `/users/${email}/oidc`, {});
    expect(await found()).toMatchObject({ connected: true, has_password: false });
    // The last way in stays.
    const refused = await disconnect();
    expect([refused.status, await refused.json()]).toEqual([
      409,
      { error: expect.objectContaining({ message: expect.stringContaining('has no password') }) },
    ]);
    expect(await sessionOf(browser)).toMatchObject({ email });

    await setPassword(gateway, email);
    expect(await (await disconnect()).json()).toEqual({ ended: 1 });
    expect(await (await disconnect()).json()).toEqual({ ended: 0 });
    expect(await found()).toMatchObject({ connected: false });
    const [line] = await listAudit(gateway.app.database.kysely, { object: email, limit: 1 });
    expect(line).toMatchObject({
      action: 'user.unlink',
      actor: { name: 'admin@example.com' },
      changes: [{ field: 'issuer', before: provider.issuer, after: null }],
    });

    // Whoever connects again may end it, and stays signed in.
    await signInThrough('s-mover');
    expect(await found()).toMatchObject({ connected: true });
    const own = await signIn(gateway.url, email, password);
    expect((await own.send('DELETE', '/me/oidc', { password })).status).toBe(200);
    expect((await own.get('/session')).status).toBe(200);
    expect(await found()).toMatchObject({ connected: false });
  });

  describe('are changed by a session only together with the password', () => {
    const email = 'owner@example.com';
    let owner: Person;
    const methods = async () => (await owner.get('/me/totp')).json();
    beforeAll(async () => {
      provider.people.set('s-owner', person(email));
      await signInThrough('s-owner');
      await setPassword(gateway, email);
      owner = await signIn(gateway.url, email, password);
    });

    test.each([
      ['POST', '/me/totp', 201],
      ['DELETE', '/me/totp', 200],
      ['POST', '/me/oidc', 200],
      ['DELETE', '/me/oidc', 200],
    ])('%s %s', async (method, path, status) => {
      const call = (body: object) => owner.send(method, path, body, { origin: publicUrl });
      const before = await methods();
      for (const [body, field] of [
        [{}, 'password'],
        [{ password: 'wrong' }, 'password'],
        [{ code: '000000' }, 'code'],
        [{ code: '000000', password }, 'code'],
      ] as const) {
        const refused = await call(body);
        expect([body, refused.status, await refused.json()]).toEqual([
          body,
          400,
          {
            error: expect.objectContaining({ fields: [expect.objectContaining({ path: field })] }),
          },
        ]);
      }
      expect(await methods()).toEqual(before);
      expect((await call({ password })).status).toBe(status);
    });

    test.each([
      ['POST', 'invite'],
      ['DELETE', 'totp'],
      ['DELETE', 'oidc'],
    ])('also of an administrator: %s %s', async (method, what) => {
      const { send } = await admin();
      expect((await send(method, `/users/admin@example.com/${what}`, {})).status).toBe(409);
    });
  });

  test('are linked to one identity, and it to one of them', async () => {
    provider.people.set('s-taken', person('taken@example.com'));
    await signInThrough('s-taken');
    const { send } = await admin();
    const begun = await send('POST', '/me/oidc', { password }, { origin: publicUrl });
    const { location } = (await begun.json()) as { location: string };
    const browser = new PlainBrowser();
    browser.keep(gateway.url, begun);
    const back = await passProvider(browser, location, 's-taken');
    expect(await comeBack(browser, back)).toMatchObject({ problem: 'linked-elsewhere' });
  });

  test('are not linked once the session has ended in which that began', async () => {
    const { send } = await admin();
    const begun = await send('POST', '/me/oidc', { password }, { origin: publicUrl });
    const { location } = (await begun.json()) as { location: string };
    await send('POST', '/auth/logout', {});
    provider.people.set('s-other', person('admin@example.com'));
    const browser = new PlainBrowser();
    browser.keep(gateway.url, begun);
    const back = await passProvider(browser, location, 's-other');
    expect(await comeBack(browser, back)).toMatchObject({ problem: 'not-begun' });
  });
});

test('a lost group takes the role away, also in sessions that there are', async () => {
  provider.people.set('s-ops', person('ops@example.com', { groups: ['other', 'ops'] }));
  const { browser: before } = await signInThrough('s-ops');
  expect(await sessionOf(before)).toMatchObject({ role: 'operator' });
  provider.people.set('s-ops', person('ops@example.com', { groups: ['other'] }));
  const { browser } = await signInThrough('s-ops');
  expect(await sessionOf(browser)).toMatchObject({ role: 'member' });
  expect(await sessionOf(before)).toBe(401);
  const [, line] = await listAudit(gateway.app.database.kysely, {
    actor: 'ops@example.com',
    limit: 2,
  });
  expect([line?.action, line?.changes]).toEqual([
    'user.update',
    [{ field: 'role', before: 'operator', after: 'member' }],
  ]);
});

test('a provider that fails is said to, and no token is in the log', async () => {
  provider.interrupt = ({ url = '' }, response) => {
    if (!url.startsWith('/token')) return false;
    response.writeHead(503).end();
    return true;
  };
  provider.people.set('s-away', person('away@example.com'));
  const { problem, back } = await signInThrough('s-away');
  provider.interrupt = () => false;
  expect(problem).toBe('provider-away');
  const { searchParams } = new URL(back);
  const log = warnings.join('\n');
  for (const secret of [searchParams.get('code')!, searchParams.get('state')!, clientSecret]) {
    expect(log).not.toContain(secret);
  }
});

describe('with `only`', () => {
  let strict: TestGateway;
  beforeAll(async () => {
    strict = await startWithPeople({
      publicUrl,
      config: settingsOf(provider, `only: true, create: false, ${groups}`).replace(
        'keys: []',
        '  - { email: second@example.com, role: admin }\nkeys: []',
      ),
    });
    const { kysely } = strict.app.database;
    await kysely
      .updateTable('users')
      .set({ created_at: 1 })
      .where('email', '=', 'admin@example.com')
      .execute();
  });
  afterAll(() => strict.close());

  test('the oldest administrator with a password is the way in, and nobody else', async () => {
    const methods = await fetch(`${strict.url}/admin/v1/auth/methods`);
    expect(await methods.json()).toMatchObject({ password: 'one' });
    expect((await logIn(strict.url, 'admin@example.com', password)).status).toBe(200);
    const second = await logIn(strict.url, 'second@example.com', password);
    expect(second.status).toBe(403);
    expect(await second.json()).toMatchObject({
      error: { code: 'forbidden', message: 'passwords are off: sign in with Acme' },
    });
    // A wrong password learns nothing of that.
    expect((await logIn(strict.url, 'second@example.com', 'wrong')).status).toBe(401);
  });

  test('invitations set no passwords', async () => {
    const { get, send } = await signInAs(strict, 'admin');
    const { id } = (await (await get('/users/of-file@example.com')).json()) as { id: string };
    expect((await send('POST', `/users/${id}/invite`, {})).status).toBe(409);
    const accepted = await fetch(`${strict.url}/admin/v1/auth/invite`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: strict.url },
      body: JSON.stringify({ token: 'x', password: 'a new long password' }),
    });
    expect(accepted.status).toBe(403);
  });

  test('without `create` only known people get in', async () => {
    provider.people.set('s-stranger', person('stranger@example.com'));
    const { problem } = await signInThrough('s-stranger', new PlainBrowser(), strict);
    expect(problem).toBe('unknown-person');
  });
});

test('the last administrator stays one', async () => {
  const alone = await startTestGateway({ publicUrl, config: settingsOf(provider, groups) });
  const { kysely } = alone.app.database;
  await kysely.updateTable('users').set({ role: 'member' }).execute();
  provider.people.set('s-last', person('last@example.com', { groups: ['root'] }));
  await signInThrough('s-last', new PlainBrowser(), alone);
  provider.people.set('s-last', person('last@example.com', { groups: [] }));
  const { browser } = await signInThrough('s-last', new PlainBrowser(), alone);
  expect(await sessionOf(browser, alone)).toMatchObject({ role: 'admin' });
  // With another one, the group counts.
  provider.people.set('s-next', person('next@example.com', { groups: ['root'] }));
  await signInThrough('s-next', new PlainBrowser(), alone);
  const { browser: after } = await signInThrough('s-last', new PlainBrowser(), alone);
  expect(await sessionOf(after, alone)).toMatchObject({ role: 'member' });
  await alone.close();
});

test('a provider that nobody reaches, and one that puts everything into its token', async () => {
  const talkative = await startIdentityProvider([callback], true);
  talkative.people.set('s-talk', person('talk@example.com', { name: 'Talk' }));
  const other = await startTestGateway({ publicUrl, config: settingsOf(talkative, '') });
  let asked = 0;
  talkative.interrupt = ({ url = '' }) => {
    if (url.startsWith('/me')) asked += 1;
    return false;
  };
  const { browser } = await signInThrough('s-talk', new PlainBrowser(), other);
  expect(await sessionOf(browser, other)).toMatchObject({ name: 'Talk' });
  expect(asked).toBe(0);
  await talkative.close();

  const unreached = await startTestGateway({ publicUrl, config: settingsOf(talkative, '') });
  const start = await fetch(`${unreached.url}/admin/v1/auth/oidc/start`, { redirect: 'manual' });
  const { searchParams } = new URL(start.headers.get('location') ?? '');
  expect(searchParams.get('problem')).toBe('provider-away');
  expect(searchParams.get('request')).toBe(start.headers.get('x-request-id'));
  await other.close();
  await unreached.close();
});

describe.skipIf(isSkipped('postgres'))('on two nodes', () => {
  let database: TestDatabase;
  let nodes: readonly [TestGateway, TestGateway];
  beforeAll(async () => {
    database = await createTestDatabase('postgres');
    const masterKey = `secrets: { master_key: '${randomBytes(32).toString('base64')}' }\n`;
    const options = {
      publicUrl,
      databaseUrl: database.url,
      config: masterKey + settingsOf(provider, ''),
    };
    nodes = [await startTestGateway(options), await startTestGateway(options)];
  });
  afterAll(async () => {
    for (const node of nodes) await node.close();
    await database.drop();
  });

  test('what begins on one ends on the other, once', async () => {
    const [here, there] = nodes;
    provider.people.set('s-both', person('both@example.com'));
    const browser = new PlainBrowser();
    const location = await begin(browser, '/console', here);
    const first = await passProvider(browser, location, 's-both');
    const second = await passProvider(browser, location, 's-both');
    const cookie = browser.cookieOf(here.url);
    const back = async (node: TestGateway, url: string) => {
      const response = await fetch(at(url, node), { redirect: 'manual', headers: { cookie } });
      browser.keep(node.url, response);
      return new URL(response.headers.get('location') ?? '').searchParams.get('problem');
    };
    expect(await back(there, first)).toBe(null);
    expect(await back(here, second)).toBe('repeated');
    const session = await fetch(`${here.url}/admin/v1/session`, {
      headers: { cookie: browser.cookieOf(there.url) },
    });
    expect(session.status).toBe(200);
  });
});
