import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '#administration/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { config, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

interface Key {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  readonly quota: string | null;
  readonly key?: string;
}
interface Failure {
  readonly error: {
    readonly code: string;
    readonly object?: Key;
    readonly path?: string;
    readonly fields?: readonly { readonly path: string }[];
  };
}

const more = `
  - { name: teams, user: member@example.com, team: red, secret: sk-teams-0123456789abcdefghijklmnopqrst }
teams:
  - name: red
    balance: 10
    members: [{ user: owner@example.com, role: owner }, { user: member@example.com }]
groups: [{ name: dear }]
console: { members: { max_keys: 8 } }
`;

let gateway: TestGateway;
let people: Record<'admin' | 'viewer' | 'member' | 'owner', Person>;

beforeAll(async () => {
  gateway = await startWithPeople({
    config: config.replace('users:', 'users:\n  - { email: owner@example.com }') + more.slice(1),
  });
  const [admin, viewer, member, owner] = await Promise.all(
    ['admin', 'viewer', 'member', 'owner'].map((who) => signInAs(gateway, who)),
  );
  people = { admin: admin!, viewer: viewer!, member: member!, owner: owner! };
});
afterAll(() => gateway.close());

const make = (person: Person, body: object, headers = {}) =>
  person.send('POST', '/keys', body, headers);
const made = async (person: Person, body: object) => {
  const response = await make(person, body);
  expect(response.status).toBe(201);
  return (await response.json()) as Key;
};
const change = (person: Person, { id, revision }: Key, body: object) =>
  person.send('PATCH', `/keys/${id}`, body, { 'if-match': `"${revision}"` });
const changed = async (person: Person, key: Key, body: object) => {
  const response = await change(person, key, body);
  expect([response.status, body]).toEqual([200, body]);
  return (await response.json()) as Key;
};
const failureOf = async (response: Response) => {
  const { error } = (await response.json()) as Failure;
  return [response.status, error.code, ...(error.fields ?? []).map(({ path }) => path)];
};
const found = async (name: string) => {
  const { data } = (await (await people.admin.get('/keys')).json()) as { data: readonly Key[] };
  return data.find((key) => key.name === name)!;
};

describe('a change', () => {
  test('needs the revision that was seen, and shows the present key to whoever is late', async () => {
    const key = await made(people.member, { name: 'seen', quota: '5', rpm: 10 });
    const read = await people.member.get(`/keys/${key.id}`);
    expect(read.headers.get('etag')).toBe(`"${key.revision}"`);
    const after = await changed(people.member, key, {
      quota: '7',
      rpm: null,
      models: ['demo-chat'],
    });
    expect(after).toMatchObject({
      quota: '7',
      rpm: null,
      models: ['demo-chat'],
      user: 'member@example.com',
    });
    expect(after.revision).toBeGreaterThan(key.revision);

    const late = await change(people.member, key, { quota: '1' });
    expect(late.status).toBe(412);
    expect(((await late.json()) as Failure).error).toMatchObject({
      code: 'stale',
      object: { quota: '7', revision: after.revision },
    });
    for (const headers of [{}, { 'if-match': '*' }, { 'if-match': `${after.revision}` }]) {
      const blind = await people.member.send('PATCH', `/keys/${key.id}`, { quota: '1' }, headers);
      expect(await failureOf(blind)).toEqual([400, 'invalid', 'if-match']);
    }
    expect((await found('seen')).quota).toBe('7');
    const same = await changed(people.member, after, { quota: '7.00' });
    expect(same.revision).toBe(after.revision);
  });

  test('is on record, field by field', async () => {
    const key = await made(people.member, { name: 'recorded', quota: '5' });
    await changed(people.member, key, { quota: '4' });
    const [line] = await listAudit(gateway.app.database.kysely, { object: key.id, limit: 1 });
    expect(line).toMatchObject({
      action: 'key.update',
      changes: [{ field: 'quota', before: '5', after: '4' }],
    });
  });

  test('takes effect on the next request', async () => {
    const key = await made(people.member, { name: 'switched' });
    const status = async () => {
      await gateway.app.refresh();
      const response = await fetch(`${gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${key.key}` },
      });
      return response.status;
    };
    expect(await status()).toBe(200);
    const off = await changed(people.member, key, { enabled: false });
    expect(await status()).toBe(401);
    await changed(people.member, off, { enabled: true });
    expect(await status()).toBe(200);
  });

  test.each([
    [{ name: 'other' }, 'name'],
    [{ user: 'admin@example.com' }, 'user'],
    [{ quota: 5 }, 'quota'],
    [{ quota: '-1' }, 'quota'],
    [{ enabled: 'no' }, 'enabled'],
    [{ models: ['nothing-like-it'] }, 'models'],
    [{ conversion: 'loose' }, 'conversion'],
    [{ secret: 'sk-1' }, 'secret'],
  ])('%j is refused with its field', async (body, field) => {
    const key = (await found('refused')) ?? (await made(people.admin, { name: 'refused' }));
    expect(await failureOf(await change(people.admin, key, body))).toEqual([400, 'invalid', field]);
  });

  test('of a key of the file names the place in it, before it looks at anything else', async () => {
    const { id } = await found('members');
    const response = await people.admin.send('PATCH', `/keys/${id}`, {}, { 'if-match': '"0"' });
    expect(response.status).toBe(409);
    expect(((await response.json()) as Failure).error).toMatchObject({
      code: 'owned_by_file',
      path: 'keys[1]',
    });
  });

  test('of a revoked key is refused', async () => {
    const key = await made(people.member, { name: 'ended' });
    const revoked = await people.member.send('POST', `/keys/${key.id}/revoke`, {});
    const response = await change(people.member, (await revoked.json()) as Key, { quota: '1' });
    expect(await failureOf(response)).toEqual([409, 'conflict']);
  });
});

describe('limits', () => {
  test('that an administrator has set are only tightened by anybody else, also afterwards', async () => {
    const key = await made(people.admin, {
      name: 'limited',
      user: 'member@example.com',
      quota: '5',
      models: ['demo-chat'],
      expires_at: '2030-01-01T00:00:00Z',
      ips: ['127.0.0.0/8', '::1'],
    });
    for (const [body, field] of [
      [{ quota: '6' }, 'quota'],
      [{ quota: null }, 'quota'],
      [{ models: [] }, 'models'],
      [{ expires_at: '2031-01-01T00:00:00Z' }, 'expires_at'],
      [{ ips: ['127.0.0.1', '10.0.0.1'] }, 'ips'],
    ] as const) {
      expect(await failureOf(await change(people.member, key, body))).toEqual([
        403,
        'forbidden',
        field,
      ]);
    }
    const tighter = await changed(people.member, key, {
      quota: '3',
      rpm: 5,
      ips: ['127.0.0.1', '127.1.0.0/16'],
    });
    // The limit is still the administrator's; the rate is the person's own.
    expect((await change(people.member, tighter, { quota: '4' })).status).toBe(403);
    const faster = await changed(people.member, tighter, { rpm: 50 });
    const off = await changed(people.admin, faster, { enabled: false });
    expect((await change(people.member, off, { enabled: true })).status).toBe(403);
    const free = await changed(people.admin, off, { quota: null, enabled: true });
    expect((await changed(people.member, free, { quota: '100' })).quota).toBe('100');
  });

  test('of people: groups and teams that are not theirs, and the number of keys', async () => {
    expect(await failureOf(await make(people.viewer, { name: 'v', team: 'red' }))).toEqual([
      403,
      'forbidden',
    ]);
    expect(await failureOf(await make(people.member, { name: 'm', group: 'dear' }))).toEqual([
      403,
      'forbidden',
      'group',
    ]);
    const key = await made(people.member, { name: 'mine' });
    expect((await change(people.member, key, { group: 'dear' })).status).toBe(403);
    expect((await changed(people.admin, key, { group: 'dear' })).id).toBe(key.id);

    let last: Response;
    let number = 0;
    do {
      last = await make(people.viewer, { name: `many-${(number += 1)}` });
    } while (last.status === 201);
    expect([number, ...(await failureOf(last))]).toEqual([9, 409, 'conflict']);
    await people.viewer.send('POST', `/keys/${(await found('many-1')).id}/revoke`, {});
    expect((await make(people.viewer, { name: 'again' })).status).toBe(201);
    expect((await make(people.admin, { name: 'given', user: 'viewer@example.com' })).status).toBe(
      201,
    );
  });
});

describe('the owner of a team', () => {
  test('sees, changes and ends the keys of the team, and those of nobody else', async () => {
    const { data } = (await (await people.owner.get('/keys')).json()) as { data: readonly Key[] };
    expect(data.map(({ name }) => name)).toEqual(['teams']);
    const key = await made(people.member, { name: 'of-red', team: 'red', quota: '5' });
    const tighter = await changed(people.owner, key, { quota: '2' });
    // Somebody above the person has set it now.
    expect((await change(people.member, tighter, { quota: '3' })).status).toBe(403);
    const wider = await changed(people.owner, tighter, { quota: '9' });
    const rotated = await people.owner.send('POST', `/keys/${key.id}/rotate`, {});
    expect(((await rotated.json()) as Key).key).toMatch(/^sk-/);
    expect(rotated.headers.get('etag')).not.toBe(`"${wider.revision}"`);
    expect((await people.owner.send('POST', `/keys/${key.id}/revoke`, {})).status).toBe(200);

    const other = await found('admins');
    expect((await people.owner.get(`/keys/${other.id}`)).status).toBe(404);
    for (const action of ['rotate', 'revoke']) {
      const response = await people.owner.send('POST', `/keys/${other.id}/${action}`, {});
      expect([action, response.status]).toEqual([action, 404]);
    }
    expect((await change(people.owner, other, { quota: '1' })).status).toBe(404);
  });
});

describe('a repeated call', () => {
  const twice = { 'idempotency-key': 'a-name-of-its-own' };

  test('makes one key, and shows its secret once', async () => {
    const both = await Promise.all([1, 2].map(() => make(people.admin, { name: 'once' }, twice)));
    const keys = (await Promise.all(both.map((each) => each.json()))) as Key[];
    expect(both.map(({ status }) => status)).toEqual([201, 201]);
    expect(keys[0]?.id).toBe(keys[1]?.id);
    expect(keys.filter(({ key }) => key !== undefined)).toHaveLength(1);

    expect(await failureOf(await make(people.admin, { name: 'twice' }, twice))).toEqual([
      409,
      'idempotency_conflict',
    ]);
    // Somebody else's name for a call is another one.
    expect((await make(people.owner, { name: 'of-owner' }, twice)).status).toBe(201);
  });

  test('rotates once', async () => {
    const { id } = await found('once');
    const headers = { 'idempotency-key': 'turn' };
    const rotate = async () =>
      (await (await people.admin.send('POST', `/keys/${id}/rotate`, {}, headers)).json()) as Key;
    const [first, second] = [await rotate(), await rotate()];
    expect(first.key).toMatch(/^sk-/);
    expect(second).toEqual({ ...first, key: undefined, revision: second.revision });
    expect(second.revision).toBe(first.revision);
  });

  test('with an impossible name is refused', async () => {
    const response = await make(people.admin, { name: 'x' }, { 'idempotency-key': 'a b' });
    expect(await failureOf(response)).toEqual([400, 'invalid', 'idempotency-key']);
  });
});
