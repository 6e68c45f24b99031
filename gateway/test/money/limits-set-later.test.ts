import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator, type Simulator } from 'simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type App } from '#app/index.ts';
import { parseConfig } from '#config/index.ts';
import { noonZone } from '../support/time-zones.ts';

/* A limit that is set when something has been spent already counts what was spent, also after a restart. */

const secretOf = (at: number) => `sk-later-${at}-0123456789abcdefghijklmnopqrstuv`;

/** YAML of a user, a team and a key. */
interface Accounts {
  readonly user: string;
  readonly team?: string;
  readonly key: string;
}

interface Limit {
  readonly name: string;
  /** The accounts under this limit; null: none. */
  readonly accounts: (limit: string | null, at: number) => Accounts;
  readonly message: string;
}

const inTeam = (at: number, budget: string, member: string | null = null): Accounts => ({
  user: `email: u${at}@example.com`,
  team: `name: t${at}, balance: 100, time_zone: ${noonZone}, budget: { ${budget} }, members: [{ user: u${at}@example.com, role: member, budget: ${member} }]`,
  key: `name: k${at}, user: u${at}@example.com, team: t${at}, secret: ${secretOf(at)}`,
});
const alone = (at: number, ofUser: string, ofKey: string): Accounts => ({
  user: `email: u${at}@example.com, balance: 100, ${ofUser}`,
  key: `name: k${at}, user: u${at}@example.com, secret: ${secretOf(at)}, ${ofKey}`,
});

const limits: readonly Limit[] = [
  {
    name: 'a user quota',
    accounts: (limit, at) => alone(at, `quota: ${limit}`, 'group: default'),
    message: 'quota limit exceeded',
  },
  {
    name: 'a key quota',
    accounts: (limit, at) => alone(at, 'role: member', `quota: ${limit}`),
    message: 'key quota limit exceeded',
  },
  {
    name: 'a daily budget',
    accounts: (limit, at) => inTeam(at, `daily: ${limit}`),
    message: 'team daily budget exceeded',
  },
  {
    name: 'a monthly budget',
    accounts: (limit, at) => inTeam(at, `monthly: ${limit}`),
    message: 'team monthly budget exceeded',
  },
  {
    name: 'a total budget',
    accounts: (limit, at) => inTeam(at, `total: ${limit}`),
    message: 'team total budget exceeded',
  },
  {
    name: 'a member budget',
    accounts: (limit, at) => inTeam(at, 'daily: null', limit),
    message: 'member budget exceeded',
  },
];

/* One gateway for all limits, which passes through the same steps; each has accounts of its own. */
describe('earlier spending is included', () => {
  let simulator: Simulator;
  let app: App;
  const directory = mkdtempSync(join(tmpdir(), 'sluice-later-'));
  const configOf = (limit: string | null) =>
    parseConfig(configuration(directory, simulator.url, limit), {
      file: 'test.yaml',
      environment: {},
      bundledModels: [],
    });
  beforeAll(async () => {
    simulator = await startSimulator();
    app = await start(configOf(null));
  });
  afterAll(async () => {
    await app.close();
    await simulator.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const each = limits.map(({ name, message }, at) => ({ name, message, at }));

  test.each(each)('$name: without it a request is admitted', async ({ at }) => {
    expect(await post(app, at)).toMatchObject({ status: 200 });
  });

  describe('set below what one request has cost', () => {
    beforeAll(() => app.reload(configOf('0.001')));
    test.each(each)('$name: is used up', async ({ at, message }) => {
      await expect.poll(() => post(app, at)).toMatchObject({ text: message });
    });
  });

  describe('after a restart', () => {
    beforeAll(async () => {
      await app.close();
      app = await start(configOf('0.001'));
    });
    test.each(each)('$name: is still used up', async ({ at, message }) => {
      expect(await post(app, at)).toMatchObject({ text: message });
    });
  });

  describe('raised', () => {
    beforeAll(() => app.reload(configOf('50')));
    test.each(each)('$name: admits again', async ({ at }) => {
      await expect.poll(() => post(app, at)).toMatchObject({ status: 200 });
    });
  });
});

function configuration(directory: string, upstream: string, limit: string | null): string {
  const all = limits.map(({ accounts }, at) => accounts(limit, at));
  const list = (entries: readonly (string | undefined)[]) =>
    entries.flatMap((entry) => (entry === undefined ? [] : [`  - { ${entry} }`])).join('\n');
  return `
server: { port: 0, drain_timeout: 2s }
storage: { url: "sqlite:${directory}/test.db", data_dir: "${directory}" }
channels:
  - name: sim
    provider: simulator
    base_url: ${upstream}
    protocols: [chat]
    models: [{ name: priced, upstream: demo-chat }]
models:
  - { id: priced, type: chat, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }
users:
${list(all.map(({ user }) => user))}
teams:
${list(all.map(({ team }) => team))}
keys:
${list(all.map(({ key }) => key))}
`;
}

const start = (config: Parameters<typeof startApp>[0]['config']): Promise<App> =>
  startApp({
    config,
    logger: { info() {}, warn() {}, error() {}, request() {}, droppedLines: 0 },
  });

async function post(
  app: App,
  at: number,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secretOf(at)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'priced', messages: [{ role: 'user', content: 'hello' }] }),
  });
  const body = (await response.json()) as { readonly error?: { readonly message: string } };
  return { status: response.status, text: body.error?.message.split(/[,:.]/)[0] ?? '' };
}
