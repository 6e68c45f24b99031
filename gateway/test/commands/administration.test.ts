import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '#commands/index.ts';
import { verifyPassword } from '#database/index.ts';
import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';
import { ask, secrets } from '../console/people.ts';
import { workplaceIn } from './support.ts';

/* Commands beside a running gateway, on its database. */

const config = `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat], groups: [default, half], priority: 5 }
  - { name: refused, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-reasoning], api_key: invalid-key-0123456789abcdef }
groups: [{ name: half, price_multiplier: 0.5 }]
users:
  - { email: ada@example.com, name: Ada, role: admin, balance: 100, quota: 50 }
teams:
  - { name: research, balance: 10, budget: { monthly: 300 }, members: [{ user: ada@example.com, role: owner, budget: 40 }] }
keys:
  - { name: adas, user: ada@example.com, secret: ${secrets.admin} }
`;

let gateway: TestGateway;
let sluice: ReturnType<typeof workplaceIn>['sluice'];
let json: ReturnType<typeof workplaceIn>['json'];
let folder: string;
/** The id of a request that was charged, and of one that its upstream refused. */
let charged: string;
let refused: string;
beforeAll(async () => {
  gateway = await startTestGateway({ config });
  folder = dirname(gateway.databaseUrl.replace('sqlite:', ''));
  const file = `storage: { url: "${gateway.databaseUrl}", data_dir: "${folder}" }\n`;
  ({ sluice, json } = workplaceIn(folder, file));
  charged = await ask(gateway, secrets.admin);
  refused = await ask(gateway, secrets.admin, 'demo-reasoning');
  await gateway.usage();
}, 60_000);
afterAll(() => gateway.close());

describe('admin keys', () => {
  const use = async (secret: string) => {
    const headers = { authorization: `Bearer ${secret}` };
    return (await fetch(`${gateway.url}/admin/v1/health`, { headers })).status;
  };

  test('are created, listed and revoked, and the gateway follows at once', async () => {
    const options = '--name nightly --role viewer --ip 127.0.0.1 --ip ::1'.split(' ');
    const { key, ...made } = (await json('admin-key', 'create', ...options)) as {
      readonly key: string;
      readonly id: string;
    };
    expect(key).toMatch(/^sa-\w{52}$/);
    expect(made).toMatchObject({ role: 'viewer', ips: ['127.0.0.1', '::1'], created_by: null });
    expect(await json('admin-key', 'list')).toEqual([{ ...made, last_used_at: null }]);
    expect(await use(key)).toBe(200);
    const { out } = await sluice('admin-key', 'list');
    expect(out).toMatch(/^NAME +KEY +ROLE +MADE BY +LAST USED +EXPIRES +STATE\n/);
    expect(out).toMatch(/^nightly +sa-.{4}….{4} +viewer +\(a command\) .* active$/m);
    expect(out).not.toContain(key);

    expect((await sluice('admin-key', 'revoke', 'nightly')).out).toBe(
      "admin key 'nightly' is revoked\n",
    );
    expect(await use(key)).toBe(401);
    expect((await sluice('admin-key', 'revoke', made.id)).out).toContain('was already revoked');
    expect(await json('audit', '--action', 'admin_key.revoke', '--limit', '1')).toMatchObject({
      data: [{ actor: { kind: 'command' }, object: { name: 'nightly' } }],
    });
  });

  test('are shown once', async () => {
    const { out } = await sluice('admin-key', 'create', '--name', 'shown', '--role', 'admin');
    expect(out).toMatch(/^admin key 'shown' until \d{4}-.*Z, shown only once:\nsa-\w{52}\n$/);
  });

  test.each([
    [['--name', 'x', '--role', 'member'], 2, '--role: expected'],
    [['--name', 'x'], 2, '--role is required'],
    [['--name', 'x', '--role', 'admin', '--ip', 'here'], 2, '--ip: expected'],
    [
      ['--name', 'x', '--role', 'admin', '--expires-at', '2099-01-01T00:00:00Z'],
      1,
      'expected a time within the next 366 days',
    ],
  ])('%j is refused', async (options, code, message) => {
    const outcome = await sluice('admin-key', 'create', ...options);
    expect([outcome.code, outcome.out]).toEqual([code, '']);
    expect(outcome.err).toContain(message);
  });
});

describe('people', () => {
  test('a person is shown as the API shows one', async () => {
    expect(await json('user', 'show', 'ada@example.com')).toMatchObject({
      email: 'ada@example.com',
      role: 'admin',
      keys: 1,
      limit: { limit: '50' },
      teams: [{ name: 'research', role: 'owner' }],
      usage: { requests: 2 },
      has_password: false,
    });
    const { out } = await sluice('user', 'show', 'ada@example.com');
    expect(out).toMatch(/^balance +99\.9\d+ USD$/m);
    expect(out).toMatch(/^quota +0\.0\d+ of 50 USD spent$/m);
    expect(out).toMatch(/^teams +research \(owner\)$/m);
    expect(out).toMatch(/^usage +2 requests, 0\.0\d+ USD$/m);
  });

  test('a person is signed out everywhere', async () => {
    const { kysely } = gateway.app.database;
    const { id, role } = await kysely
      .selectFrom('users')
      .select(['id', 'role'])
      .where('email', '=', 'ada@example.com')
      .executeTakeFirstOrThrow();
    const now = Date.now();
    const times = { created_at: now, seen_at: now };
    await kysely
      .insertInto('sessions')
      .values({ id: 'x', user_id: id, role, ...times })
      .execute();
    const signOut = () => sluice('user', 'sign-out', 'ada@example.com');
    expect((await signOut()).out).toBe("'ada@example.com' is signed out; ended: 1 session\n");
    expect(await json('user', 'sign-out', 'ada@example.com')).toEqual({
      email: 'ada@example.com',
      ended: 0,
    });
  });

  test.each([
    ['a password that somebody chose', 'a password of their own', 0],
    ['one that is too short', 'short', 1],
  ])('%s is read from the standard input, and not printed', async (_name, password, code) => {
    let printed = '';
    const print = (text: string) => void (printed += text);
    const outcome = await run(['user', 'password', '--stdin', 'ada@example.com'], {
      stdout: print,
      stderr: print,
      readSecret: async () => password,
      workingDirectory: folder,
      environment: {},
    });
    expect(outcome).toBe(code);
    expect(printed).not.toContain(password);
    const { hash } = await gateway.app.database.kysely
      .selectFrom('users')
      .select('password_hash as hash')
      .where('email', '=', 'ada@example.com')
      .executeTakeFirstOrThrow();
    expect(await verifyPassword(password, hash ?? '')).toBe(code === 0);
  });
});

test('a team is shown with its budgets and members', async () => {
  expect(await json('team', 'show', 'research')).toMatchObject({
    name: 'research',
    balance: '10',
    limits: [{ name: 'monthly', limit: '300' }],
    members: [{ user: 'ada@example.com', limit: { limit: '40' } }],
  });
  const { out } = await sluice('team', 'show', 'research');
  expect(out).toMatch(/^monthly +0 of 300 USD spent, until 20\d\d-/m);
  expect(out).toMatch(/^MEMBER +ROLE +PART +USAGE$/m);
  expect(out).toMatch(/^ada@example\.com +owner +0 of 40 USD spent +0 requests, 0 USD$/m);
});

describe('a request', () => {
  test('is shown with a receipt that adds up', async () => {
    const { cost, receipt } = (await json('usage', 'show', charged)) as {
      readonly cost: string;
      readonly receipt: readonly { readonly part: string }[];
    };
    const { out } = await sluice('usage', 'show', charged);
    for (const { part } of receipt) {
      const line = new RegExp(`^${part} +(\\d+) +× ([\\d.]+) +=  *([\\d.]+)$`, 'm').exec(out);
      const [, quantity, price, amount] = line ?? [];
      expect(Number(quantity) * Number(price)).toBeCloseTo(Number(amount), 12);
    }
    const [, sum] = /^sum +=  *([\d.]+)$/m.exec(out) ?? [];
    expect(Math.abs(Number(sum) - Number(cost))).toBeLessThan(1e-9);
    expect(out).toMatch(new RegExp(`^charged +${cost} USD$`, 'm'));
    expect(out).toMatch(/^held +0\.\d+ USD$/m);
    expect(out).toMatch(/^1 +sim +200 +completed +\d+$/m);
  });

  test('that its upstream refused is shown with the words of both', async () => {
    const { out } = await sluice('usage', 'show', refused);
    expect(out).toContain('nothing was charged\n');
    expect(out).toMatch(/^message +\S/m);
    expect(out).toMatch(/^1 +refused +401 +credential-refused +\d+ +\S/m);
  });

  test('that nobody sent is not found', async () => {
    expect(await sluice('usage', 'show', 'req_nothing')).toEqual({
      code: 1,
      out: '',
      err: "sluice: request 'req_nothing' does not exist, or is no longer kept\n",
    });
  });
});

describe('channels', () => {
  test('are listed with what became of their attempts', async () => {
    expect(await json('channel', 'list')).toMatchObject([
      {
        name: 'refused',
        verdict: 'fails',
        attempts: 1,
        failed: 1,
        last_failure: { request: refused },
      },
      { name: 'sim', verdict: 'answers', attempts: 1, failed: 0, last_failure: null },
    ]);
    const { out } = await sluice('channel', 'list');
    expect(out).toMatch(/^sim +simulator +default half +1 +5 +file +enabled +answers +1 +0$/m);
    expect(out).not.toContain('invalid-key');
  });

  test('one that works is tested', async () => {
    const { code, out, err } = await sluice('channel', 'test', 'sim');
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^connect +\d+ +ok$/m);
    expect(out).toMatch(/^result: works$/m);
    expect(await json('audit', '--action', 'channel.test', '--limit', '1')).toMatchObject({
      data: [{ actor: { kind: 'command' }, object: { name: 'sim' } }],
    });
  });

  test('one that does not work is reported with advice and exit code 1', async () => {
    const { code, out } = await sluice('channel', 'test', 'refused', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      class: 'credential',
      status: 401,
      advice: expect.stringContaining('API key'),
    });
    expect(out).not.toContain('invalid-key-0123456789abcdef');
    const lines = (await sluice('channel', 'test', 'refused')).out;
    expect(lines).toMatch(/^status +\d+ +failed$/m);
    expect(lines).toMatch(/^end +not reached$/m);
  });
});

test.each([
  [['user', 'show', 'eve@example.com'], "user 'eve@example.com' does not exist"],
  [['user', 'sign-out', 'eve@example.com'], "user 'eve@example.com' does not exist"],
  [['team', 'show', 'red'], "team 'red' does not exist"],
  [['channel', 'test', 'east'], "channel 'east' does not exist"],
  [['admin-key', 'revoke', 'daily'], "admin key 'daily' does not exist"],
])('%j names what does not exist', async (argv, message) => {
  expect(await sluice(...argv)).toEqual({ code: 1, out: '', err: `sluice: ${message}\n` });
});
