import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { hasBrowser, visit } from './browser.ts';
import { ask, secrets, signInAs, startWithPeople } from './people.ts';

const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, messages]
    models: [demo-chat]
  - name: refusing
    provider: simulator
    base_url: SIMULATOR
    api_key: invalid-one
    protocols: [chat]
    models: [demo-reasoning]
users:
  - { email: admin@example.com, role: admin, balance: 100 }
  - { email: member@example.com, balance: 100 }
  - { email: viewer@example.com, role: viewer }
  - { email: billing@example.com, role: billing }
  - { email: operator@example.com, role: operator }
keys:
  - { name: admins, user: admin@example.com, secret: ${secrets.admin} }
  - { name: members, user: member@example.com, secret: ${secrets.member} }
`;

let gateway: TestGateway;
/** The request of the member that the upstream refused. */
let refused: string;

beforeAll(async () => {
  gateway = await startWithPeople({ config });
  await ask(gateway, secrets.admin);
  refused = await ask(gateway, secrets.member, 'demo-reasoning');
  await gateway.usage();
}, 60_000);

afterAll(() => gateway.close());

test('operators and viewers see how the gateway and its channels are, members do not', async () => {
  const admin = await signInAs(gateway, 'admin');
  expect(await (await admin.get('/health')).json()).toEqual({
    status: 'ok',
    version: expect.any(String),
    started: expect.any(String),
    degraded: [],
    database: { kind: 'sqlite', state: 'works' },
    redis: null,
    journal: { usable: true, depth: expect.any(Number) },
    nodes: [
      {
        id: expect.any(String),
        current: true,
        live: true,
        started: expect.any(String),
        silent_ms: expect.any(Number),
        journal: expect.any(Number),
        state: {
          version: expect.any(String),
          host: expect.any(String),
          worker: null,
          under_way: 0,
          lag_ms: expect.any(Number),
          memory: { rss: expect.any(Number), heap: expect.any(Number) },
          journal: { usable: true, depth: 0 },
          degraded: [],
          channels: {
            count: 1,
            first: [
              {
                name: 'refusing',
                state: 'refused',
                credentials: { ready: 0, cooling: 0, disabled: 1 },
                rest_ms: expect.any(Number),
              },
            ],
          },
        },
      },
    ],
    resting: [{ channel: 'refusing', nodes: 1, of: 1 }],
  });
  const { data } = (await (await admin.get('/channels')).json()) as { data: unknown[] };
  expect(data).toEqual([
    expect.objectContaining({
      name: 'refusing',
      state: 'refused',
      credentials: { ready: 0, cooling: 0, disabled: 1 },
      verdict: 'fails',
      recent: {
        attempts: 1,
        failed: 1,
        success: 0,
        hours: expect.any(Array),
        first_token_ms: null,
        errors: [{ error: 'credential-refused', attempts: 1 }],
        answered_at: null,
        failing: { since: expect.any(String), attempts: 1 },
        last_failure: {
          request: expect.any(String),
          time: expect.any(String),
          error: 'credential-refused',
          blame: 'credential',
          status: 401,
          words: expect.stringContaining('API key'),
        },
      },
    }),
    expect.objectContaining({
      name: 'sim',
      state: 'works',
      verdict: 'answers',
      recent: expect.objectContaining({ attempts: 1, failed: 0, success: 1, last_failure: null }),
    }),
  ]);
  // Neither addresses nor credentials.
  expect(JSON.stringify(data)).not.toMatch(/127\.0\.0\.1|invalid-one/);
  const viewer = await signInAs(gateway, 'viewer');
  const member = await signInAs(gateway, 'member');
  const seen = (await (await viewer.get('/channels')).json()) as {
    data: { recent: { last_failure: object | null } }[];
  };
  expect(seen.data[0]?.recent.last_failure).toMatchObject({ status: 401, words: null });
  for (const path of ['/health', '/channels']) {
    expect([path, (await viewer.get(path)).status]).toEqual([path, 200]);
    expect([path, (await member.get(path)).status]).toEqual([path, 403]);
  }
});

test('what is wrong with channels needs the attention of whoever may see them', async () => {
  const attentionOf = async (who: string) => {
    const person = await signInAs(gateway, who);
    const { attention } = (await (await person.get('/overview')).json()) as { attention: object[] };
    return attention;
  };
  const failing = expect.objectContaining({
    kind: 'channel_failing',
    severity: 'failed',
    object: { kind: 'channel', name: 'refusing' },
    count: 1,
    error: 'credential-refused',
  });
  expect(await attentionOf('admin')).toContainEqual(failing);
  expect(await attentionOf('viewer')).toContainEqual(failing);
  for (const who of ['billing', 'member']) {
    expect(await attentionOf(who)).not.toContainEqual(failing);
  }
});

test('the words of an upstream are for those who run the gateway, a message for whoever got it', async () => {
  const message = expect.stringContaining('credential');
  const words = expect.stringContaining('Incorrect API key provided: [key]');
  for (const [who, expected] of [
    ['admin', { message, attempts: [expect.objectContaining({ words })] }],
    ['operator', { message, attempts: [expect.objectContaining({ words })] }],
    ['member', { message, attempts: [expect.objectContaining({ words: null })] }],
    ['viewer', { message: null, attempts: [expect.objectContaining({ words: null })] }],
    ['billing', { message: null, attempts: [expect.objectContaining({ words: null })] }],
  ] as const) {
    const person = await signInAs(gateway, who);
    expect([who, await (await person.get(`/usage/${refused}`)).json()]).toEqual([
      who,
      expect.objectContaining(expected),
    ]);
  }
});

test.runIf(hasBrowser)(
  'the page says what is wrong, and what to do about it',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = await visit(gateway.url);
    // Which channel fails, since when, in which words: one click from the overview.
    await signInAt('/', 'admin@example.com');
    await page.getByText('refusing fails').waitFor();
    await page.getByRole('link', { name: 'See health' }).click();
    await page.getByText('1 channel fails.').waitFor();
    const failure = page.getByRole('region', { name: 'What fails' }).getByRole('row').nth(1);
    await failure.getByText('API key').waitFor();
    expect(await failure.innerText()).toMatch(/refusing[^]*credential[^]*401[^]*1 of 1 attempt/);
    expect(await axeProblems()).toEqual([]);
    await page.route('**/admin/v1/health', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as object;
      const degraded = ['redis', 'node n_1 is unreachable with 3 usage records in its journal'];
      await route.fulfill({ json: { ...body, degraded } });
    });
    await page.getByText('Redis does not respond.').waitFor();
    await page.getByText('let another one adopt its data folder').waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.unroute('**/admin/v1/health');
    const fleet = page.getByRole('region', { name: 'Nodes' }).getByRole('row');
    expect(await fleet.nth(1).innerText()).toMatch(
      /this one[^]*live[^]*1 channel fails or rests there/,
    );
    // Three nodes: one of an older version, and one that has another version's state or none.
    await page.route('**/admin/v1/health', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { readonly nodes: readonly { state: object }[] };
      const [own] = body.nodes;
      const others = [
        { ...own, id: 'node_old', current: false, state: { ...own?.state, version: '0.0.1' } },
        { ...own, id: 'node_unknown', current: false, state: null },
      ];
      const resting = [{ channel: 'sim', nodes: 2, of: 3 }];
      await route.fulfill({ json: { ...body, nodes: [own, ...others], resting } });
    });
    await page.getByText('rests on 2 of 3 nodes').waitFor();
    await fleet.getByText('of another version than this node').waitFor();
    await page.getByText('Bring all nodes to one version.').waitFor();
    await fleet.getByText('live, state unknown').waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await isWider()).toBe(false);
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.unroute('**/admin/v1/health');
    await failure.getByRole('link', { name: '1 credential refused' }).click();
    await page.waitForURL('**/requests?*');
    await page
      .getByRole('link', { name: /open request/i })
      .first()
      .waitFor();
    await page.goBack();
    await page.getByText('1 channel fails.').waitFor();

    // In the other language and theme, on a phone, whose bar has the page in its menu.
    await page.locator('nav summary').click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('heading', { name: '健康' }).waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await axeProblems()).toEqual([]);
    await page.locator('nav').getByRole('link', { name: '试用' }).click();
    await page.getByRole('heading', { name: '试用' }).waitFor();
    expect(await isWider()).toBe(false);
    expect(complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'whoever may not see it does not find it, and learns who decides',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems } = await visit(gateway.url);
    await signInAt('/health', 'member@example.com');
    await page.getByText('Your role does not allow this page.').waitFor();
    expect(await page.getByRole('link', { name: 'Health' }).count()).toBe(0);
    expect(await axeProblems()).toEqual([]);
    // The browser itself reports the refusals.
    for (const complaint of complaints) expect(complaint).toContain('403');
  },
);
