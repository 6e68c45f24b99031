import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, config, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

interface Key {
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly revoked_at: string | null;
  readonly previous_valid_until: string | null;
  /** The secret, where there is one. */
  readonly key?: string;
}
interface Failure {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly fields?: readonly { readonly path: string; readonly message: string }[];
  };
}

/** Declared for the administrator, and still without a secret. */
const waiting = '  - { name: waiting, user: admin@example.com }\n';

let gateway: TestGateway;
let people: Record<'admin' | 'viewer' | 'member', Person>;

beforeAll(async () => {
  gateway = await startWithPeople({ config: config + waiting });
  const [admin, viewer, member] = await Promise.all(
    ['admin', 'viewer', 'member'].map((who) => signInAs(gateway, who)),
  );
  people = { admin: admin!, viewer: viewer!, member: member! };
});
afterAll(() => gateway.close());

const listed = async (person: Person, query = '') =>
  (await (await person.get(`/keys${query}`)).json()) as {
    readonly data: readonly Key[];
    readonly next: string | null;
  };
const idOf = async (name: string) =>
  (await listed(people.admin)).data.find((key) => key.name === name)?.id ?? '';
const made = async (person: Person, body: object): Promise<Key & { readonly key: string }> => {
  const response = await person.send('POST', '/keys', body);
  expect(response.status).toBe(201);
  return (await response.json()) as Key & { readonly key: string };
};
const failureOf = async (response: Response) => {
  const { error } = (await response.json()) as Failure;
  return [response.status, error.code];
};
const works = async (secret: string) => {
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  return response.ok;
};

describe('keys', () => {
  test('are those of everybody for whoever may read them, and their own for members', async () => {
    const names = async (person: Person) => (await listed(person)).data.map(({ name }) => name);
    expect(await names(people.admin)).toEqual(['admins', 'members', 'waiting']);
    expect(await names(people.viewer)).toEqual(['admins', 'members', 'waiting']);
    expect(await names(people.member)).toEqual(['members']);
  });

  test('come in pages', async () => {
    const first = await listed(people.admin, '?limit=2');
    const second = await listed(people.admin, `?limit=2&cursor=${first.next}`);
    expect(first.data.map(({ name }) => name)).toEqual(['admins', 'members']);
    expect([second.data.map(({ name }) => name), second.next]).toEqual([['waiting'], null]);
  });

  test('show who manages them and what they have spent, and no secret', async () => {
    await ask(gateway, secrets.member);
    const [row] = await gateway.usage();
    const text = await (await people.member.get('/keys')).text();
    expect((JSON.parse(text) as { data: Key[] }).data[0]).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'members',
      prefix: expect.stringMatching(/^sk-.+…/),
      user: 'member@example.com',
      team: null,
      group: 'default',
      models: [],
      quota: null,
      spent: row?.cost,
      expires_at: null,
      ips: [],
      rpm: null,
      rph: null,
      max_concurrency: null,
      conversion: 'lenient',
      cap_output: true,
      enabled: true,
      owner: 'file',
      editable: false,
      declared_in: {
        file: expect.stringMatching(/\.yaml$/),
        line: expect.any(Number),
        path: 'keys[1]',
      },
      revision: expect.any(Number),
      rotatable: false,
      created: expect.any(String),
      last_used_at: row?.time,
      last_used_client: row?.client,
      revoked_at: null,
      previous_valid_until: null,
    });
    expect(text).not.toContain(secrets.member);
    expect(text).not.toMatch(/"(hash|previous_hash|secret|key)"/);
  });

  test('are found by what their name contains, where signs of patterns mean themselves', async () => {
    for (const name of ['50%_off', '50 off', String.raw`back\slash`])
      await made(people.member, { name });
    const found = async (q: string) =>
      (await listed(people.admin, `?q=${encodeURIComponent(q)}`)).data.map(({ name }) => name);
    expect(await found('MEMB')).toEqual(['members']);
    expect(await found('%')).toEqual(['50%_off']);
    expect(await found('_')).toEqual(['50%_off']);
    expect(await found('\\')).toEqual([String.raw`back\slash`]);
    expect(await found('50')).toEqual(['50 off', '50%_off']);
    expect(await found("' or 1=1 --")).toEqual([]);
    // Those of others stay out of sight.
    expect((await listed(people.member, '?q=admins')).data).toEqual([]);
    const first = await listed(people.member, '?q=50&limit=1');
    const second = await listed(people.member, `?q=50&limit=1&cursor=${first.next}`);
    expect([first.data, second.data].map(([key]) => key?.name)).toEqual(['50 off', '50%_off']);
    expect(second.next).toBeNull();
    for (const q of ['', 'x'.repeat(65), '%00']) {
      expect((await people.admin.get(`/keys?q=${q}`)).status).toBe(400);
    }
  });
});

describe('a new key', () => {
  test('serves requests, and its secret is in the one response that made it', async () => {
    const key = await made(people.member, {
      name: 'laptop',
      models: ['demo-chat'],
      quota: '5',
      rpm: 60,
      rph: null,
      max_concurrency: 2,
      expires_at: '2030-01-01T00:00:00Z',
    });
    expect(key).toMatchObject({
      user: 'member@example.com',
      models: ['demo-chat'],
      quota: '5',
      rpm: 60,
      rph: null,
      max_concurrency: 2,
      expires_at: '2030-01-01T00:00:00.000Z',
      owner: 'console',
      editable: true,
      rotatable: true,
    });
    const id = await ask(gateway, key.key);
    expect((await gateway.usage()).find((row) => row.id === id)).toMatchObject({
      key: 'laptop',
      outcome: 'completed',
    });
    const again = await people.member.send('POST', '/keys', { name: 'laptop' });
    const texts = [
      await again.text(),
      ...(await Promise.all(
        ['/keys', '/session', '/usage', `/usage/${id}`].map(async (path) =>
          (await people.admin.get(path)).text(),
        ),
      )),
      await (await people.member.send('POST', `/keys/${key.id}/revoke`, {})).text(),
    ];
    expect(again.status).toBe(409);
    for (const text of texts) expect(text).not.toContain(key.key);
  });

  test.each([
    [{}, ['name']],
    [{ name: 5 }, ['name']],
    [
      { name: ' ', quota: 'much', rpm: 1.5, expires_at: 'soon' },
      ['name', 'quota', 'expires_at', 'rpm'],
    ],
    [{ name: 'x', models: ['demo-chat', 'demo-chat'] }, ['models[1]']],
    [{ name: 'x', models: ['nothing-like-it'] }, ['models']],
    [{ name: 'x', models: 'demo-chat' }, ['models']],
    [{ name: 'x', user: 'nobody@example.com' }, ['user']],
    [{ name: 'x', secret: secrets.admin, enabled: true }, ['secret', 'enabled']],
    [{ name: 'x', group: 'nothing-like-it' }, ['group']],
    [{ name: 'x', ips: ['everywhere'] }, ['ips[0]']],
    [{ name: 'x'.repeat(1_000) }, ['name']],
    [{ name: 'x', rph: -1 }, ['rph']],
  ])('%j is refused with its fields', async (body, paths) => {
    const response = await people.admin.send('POST', '/keys', body);
    const { error } = (await response.json()) as Failure;
    expect([response.status, error.code]).toEqual([400, 'invalid']);
    expect(error.fields?.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
    expect(JSON.stringify(error)).not.toContain(secrets.admin);
  });

  test('belongs to whoever makes it, and to others only by the hand of an administrator', async () => {
    for (const who of ['member', 'viewer'] as const) {
      const body = { name: `of-${who}`, user: 'admin@example.com' };
      const response = await people[who].send('POST', '/keys', body);
      expect([who, ...(await failureOf(response))]).toEqual([who, 403, 'forbidden']);
      expect((await made(people[who], { name: `of-${who}` })).user).toBe(`${who}@example.com`);
    }
    const key = await made(people.admin, { name: 'given', user: 'member@example.com' });
    expect(key.user).toBe('member@example.com');
  });

  test('has a name of its own', async () => {
    const response = await people.member.send('POST', '/keys', { name: 'admins' });
    expect(await failureOf(response)).toEqual([409, 'name_taken']);
  });

  test('is no way to the secret of a key that the file declares for somebody else', async () => {
    const response = await people.member.send('POST', '/keys', { name: 'waiting' });
    expect(await failureOf(response)).toEqual([409, 'name_taken']);
    const key = await made(people.admin, { name: 'waiting' });
    expect(key).toMatchObject({ owner: 'file', editable: false, rotatable: true });
    expect(await works(key.key)).toBe(true);
  });

  test('whose name is the id of another one stands in nobody’s way', async () => {
    const theirs = await made(people.admin, { name: 'theirs' });
    const mine = await made(people.member, { name: theirs.id });
    const response = await people.member.send('POST', `/keys/${theirs.id}/rotate`, {});
    expect(await failureOf(response)).toEqual([404, 'not_found']);
    await people.admin.send('POST', `/keys/${theirs.id}/revoke`, {});
    expect((await listed(people.member)).data.find(({ id }) => id === mine.id)).toMatchObject({
      revoked_at: null,
    });
  });
});

describe('a key', () => {
  test('gets a new secret, and the old one ends after its grace period', async () => {
    const key = await made(people.member, { name: 'turning' });
    const rotate = async (grace: unknown) => {
      const response = await people.member.send('POST', `/keys/${key.id}/rotate`, { grace });
      expect(response.status).toBe(200);
      return (await response.json()) as Key & { readonly key: string };
    };
    const before = Date.now();
    const second = await rotate('1h');
    const until = Date.parse(second.previous_valid_until ?? '');
    expect(until).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(until).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect([await works(key.key), await works(second.key)]).toEqual([true, true]);
    const third = await rotate(0);
    expect(third.previous_valid_until).toBeNull();
    await gateway.app.refresh();
    expect([await works(key.key), await works(second.key), await works(third.key)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test.each(['soon', '91d', -1, 1.5, 10_000_000, true])('takes no grace of %j', async (grace) => {
    const response = await people.admin.send('POST', `/keys/${await idOf('given')}/rotate`, {
      grace,
    });
    const { error } = (await response.json()) as Failure;
    expect([response.status, error.fields?.[0]?.path]).toEqual([400, 'grace']);
  });

  test('is revoked for good, also twice, and is not rotated then', async () => {
    const key = await made(people.member, { name: 'ending' });
    const revoke = async () =>
      (await (await people.member.send('POST', `/keys/${key.id}/revoke`, {})).json()) as Key;
    const first = await revoke();
    expect(first.revoked_at).not.toBeNull();
    expect((await revoke()).revoked_at).toBe(first.revoked_at);
    await gateway.app.refresh();
    expect(await works(key.key)).toBe(false);
    const response = await people.member.send('POST', `/keys/${key.id}/rotate`, {});
    expect(await failureOf(response)).toEqual([409, 'conflict']);
  });

  test('whose secret is in the file is rotated there, and may be revoked here', async () => {
    const id = await idOf('members');
    const response = await people.member.send('POST', `/keys/${id}/rotate`, {});
    const { error } = (await response.json()) as Failure & { error: { file: string } };
    expect(error).toMatchObject({ code: 'owned_by_file', path: 'keys[1]' });
    expect((await people.member.send('POST', `/keys/${id}/revoke`, {})).status).toBe(200);
  });

  test.each(['rotate', 'revoke'])(
    'of somebody else: %s by administrators only, and for members it does not exist',
    async (action) => {
      const key = await made(people.admin, { name: `foreign-${action}` });
      const by = (person: Person, id = key.id) => person.send('POST', `/keys/${id}/${action}`, {});
      expect(await failureOf(await by(people.member))).toEqual([404, 'not_found']);
      expect(await failureOf(await by(people.member, 'key_0'))).toEqual([404, 'not_found']);
      expect(await failureOf(await by(people.viewer))).toEqual([403, 'forbidden']);
      expect(await failureOf(await by(people.viewer, 'key_0'))).toEqual([404, 'not_found']);
      const given = await made(people.member, { name: `theirs-${action}` });
      expect((await by(people.admin, given.id)).status).toBe(200);
      // Names are no ids.
      expect(await failureOf(await by(people.admin, key.name))).toEqual([404, 'not_found']);
      expect(await works(key.key)).toBe(true);
    },
  );
});

test('nothing is read without a session, and nothing written without a page of this gateway', async () => {
  const id = await idOf('given');
  expect((await fetch(`${gateway.url}/admin/v1/keys`)).status).toBe(401);
  for (const path of ['/keys', `/keys/${id}/rotate`, `/keys/${id}/revoke`]) {
    for (const headers of [{ 'x-sluice-csrf': 'x' }, { origin: 'https://other.example' }]) {
      const response = await people.admin.send('POST', path, { name: 'sneaked' }, headers);
      expect([path, ...(await failureOf(response))]).toEqual([path, 403, 'csrf']);
    }
    const form = await people.admin.send('POST', path, {}, { 'content-type': 'text/plain' });
    expect(form.status).toBe(415);
  }
  expect(await idOf('sneaked')).toBe('');
});
