import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* Nobody gives a key more than they have. */

const people = ['admin', 'member', 'nobody', 'owner', 'viewer'] as const;
const config = `
groups: [{ name: lab }, { name: dear }, { name: vault }]
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, models: [demo-chat], groups: [default, dear, lab] }
  - { name: secret, provider: simulator, base_url: SIMULATOR, models: [demo-reasoning], groups: [vault] }
users:
  - { email: admin@example.com, role: admin }
  - { email: member@example.com, groups: [lab, default] }
  - { email: nobody@example.com, groups: [] }
  - { email: owner@example.com }
  - { email: viewer@example.com, role: viewer, groups: [lab] }
teams:
  - { name: red, groups: [dear], members: [{ user: owner@example.com, role: owner }, { user: member@example.com }] }
  - { name: blue, members: [{ user: member@example.com }, { user: nobody@example.com }] }
keys: [{ name: admins, user: admin@example.com, secret: ${secrets.admin} }]
`;

interface Key {
  readonly id: string;
  readonly name: string;
  readonly group: string;
  readonly team: string | null;
  readonly revision: number;
}

let gateway: TestGateway;
let as: Record<(typeof people)[number], Person>;

beforeAll(async () => {
  gateway = await startWithPeople({ config });
  const signedIn = await Promise.all(
    people.map(async (who) => [who, await signInAs(gateway, who)]),
  );
  as = Object.fromEntries(signedIn) as typeof as;
});
afterAll(() => gateway.close());

let count = 0;
const make = (person: Person, body: object) =>
  person.send('POST', '/keys', { name: `key-${(count += 1)}`, ...body });
const made = async (person: Person, body: object) => {
  const response = await make(person, body);
  expect(response.status).toBe(201);
  return (await response.json()) as Key;
};
const change = (person: Person, { id, revision }: Key, body: object) =>
  person.send('PATCH', `/keys/${id}`, body, { 'if-match': `"${revision}"` });
/** The status, and the field that is named. */
const failureOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { fields?: { path: string }[] } };
  return [response.status, error.fields?.[0]?.path];
};

describe('a new key', () => {
  test.each([
    ['member', {}, 'default'],
    ['member', { group: null }, 'default'],
    ['member', { group: 'lab' }, 'lab'],
    ['viewer', {}, 'lab'],
    ['member', { team: 'red' }, 'dear'],
    ['member', { team: 'blue' }, 'default'],
    ['nobody', { team: 'blue' }, 'default'],
    ['owner', { team: 'red', group: 'dear' }, 'dear'],
    ['admin', {}, 'default'],
    ['admin', { user: 'nobody@example.com', group: 'vault' }, 'vault'],
  ] as const)('of %s with %j is of the group %s', async (who, body, group) => {
    expect(await made(as[who], body)).toMatchObject({ group });
  });

  test.each([
    ['member', { group: 'dear' }],
    ['member', { group: 'vault' }],
    ['member', { group: 'nothing-like-it' }],
    ['member', { team: 'red', group: 'lab' }],
    ['member', { team: 'red', group: 'default' }],
    ['member', { team: 'blue', group: 'lab' }],
    ['owner', { group: 'dear' }],
    ['viewer', { group: 'default' }],
    ['nobody', {}],
  ] as const)('of %s cannot have %j', async (who, body) => {
    expect(await failureOf(await make(as[who], body))).toEqual([403, 'group']);
  });
});

describe('a change', () => {
  test('gives a key no group that its payer does not have', async () => {
    const key = await made(as.member, {});
    const lab = (await (await change(as.member, key, { group: 'lab' })).json()) as Key;
    expect(lab.group).toBe('lab');
    for (const body of [{ group: 'dear' }, { team: 'blue' }, { team: 'red' }]) {
      expect(await failureOf(await change(as.member, lab, body))).toEqual([403, 'group']);
    }
    const red = await change(as.member, lab, { team: 'red', group: 'dear' });
    const ofRed = (await red.json()) as Key;
    expect([red.status, ofRed]).toMatchObject([200, { team: 'red', group: 'dear' }]);
    // Nor does the owner of the team let the member pay for the team's group.
    expect(await failureOf(await change(as.owner, ofRed, { team: null }))).toEqual([403, 'group']);
  });

  test('leaves what an administrator gave as it is', async () => {
    const key = await made(as.admin, { user: 'member@example.com', group: 'vault' });
    const same = await change(as.member, key, { rpm: 5, group: 'vault' });
    expect([same.status, await same.json()]).toMatchObject([200, { group: 'vault', rpm: 5 }]);
  });
});

describe('the session', () => {
  test.each([
    [
      'member',
      ['lab', 'default'],
      [
        { name: 'blue', role: 'member', groups: ['default'] },
        { name: 'red', role: 'member', groups: ['dear'] },
      ],
    ],
    ['nobody', [], [{ name: 'blue', role: 'member', groups: ['default'] }]],
    ['viewer', ['lab'], []],
    ['admin', ['dear', 'default', 'lab', 'vault'], []],
  ] as const)('of %s names the groups to choose from', async (who, groups, teams) => {
    expect(await (await as[who].get('/session')).json()).toMatchObject({ groups, teams });
  });
});

describe('the playground', () => {
  const ask = (who: (typeof people)[number], body: object) =>
    as[who].send('POST', '/playground/key', body);

  test('uses no group that the payer does not have', async () => {
    for (const [who, body] of [
      ['viewer', {}],
      ['viewer', { group: 'lab' }],
      ['member', { team: 'red' }],
      ['member', { team: 'red', group: 'dear' }],
      // By a key that an administrator gave.
      ['member', { group: 'vault' }],
      ['admin', { group: 'vault' }],
    ] as const) {
      expect([who, body, (await ask(who, body)).status]).toEqual([who, body, 200]);
    }
    for (const [who, body] of [
      // Sees the models of all groups.
      ['viewer', { group: 'vault' }],
      ['member', { group: 'dear' }],
      ['member', { team: 'red', group: 'vault' }],
      ['owner', { group: 'dear' }],
    ] as const) {
      expect([who, body, await failureOf(await ask(who, body))]).toEqual([
        who,
        body,
        [400, 'group'],
      ]);
    }
  });

  test('models are those of the own groups, of the teams and of the own keys', async () => {
    const modelsOf = async (who: (typeof people)[number]) => {
      const { data } = (await (await as[who].get('/models')).json()) as {
        data: { id: string; groups: string[] }[];
      };
      return data.map(({ id, groups }) => [id, groups.toSorted()]);
    };
    expect(await modelsOf('owner')).toEqual([['demo-chat', ['dear', 'default']]]);
    expect(await modelsOf('member')).toEqual([
      ['demo-chat', ['dear', 'default', 'lab']],
      ['demo-reasoning', ['vault']],
    ]);
  });
});
