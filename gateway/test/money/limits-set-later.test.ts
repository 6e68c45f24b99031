import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator, type Simulator } from 'simulator';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startApp, type App } from '#app/index.ts';
import { parseConfig } from '#config/index.ts';

/* A limit that is set when something has been spent already counts what was spent, also after a restart. */

const secret = 'sk-test-0123456789abcdefghijklmnopqrstuv';

interface Limit {
  readonly name: string;
  /** YAML of the accounts under this limit; null: none. */
  readonly accounts: (limit: string | null) => string;
  readonly message: string;
}

const member = (limit: string | null): string =>
  `{ user: u@example.com, role: member, budget: ${limit} }`;
const team = (budget: string, members = member(null)): string => `
users: [{ email: u@example.com }]
teams: [{ name: t, balance: 100, time_zone: Asia/Shanghai, budget: { ${budget} }, members: [${members}] }]
keys: [{ name: k, user: u@example.com, team: t, secret: ${secret} }]`;
const user = (ofUser: string, ofKey: string): string => `
users: [{ email: u@example.com, balance: 100, ${ofUser} }]
keys: [{ name: k, user: u@example.com, secret: ${secret}, ${ofKey} }]`;

const limits: readonly Limit[] = [
  {
    name: 'a user quota',
    accounts: (limit) => user(`quota: ${limit}`, 'group: default'),
    message: 'quota limit exceeded',
  },
  {
    name: 'a key quota',
    accounts: (limit) => user('role: member', `quota: ${limit}`),
    message: 'key quota limit exceeded',
  },
  {
    name: 'a daily budget',
    accounts: (limit) => team(`daily: ${limit}`),
    message: 'team daily budget exceeded',
  },
  {
    name: 'a monthly budget',
    accounts: (limit) => team(`monthly: ${limit}`),
    message: 'team monthly budget exceeded',
  },
  {
    name: 'a total budget',
    accounts: (limit) => team(`total: ${limit}`),
    message: 'team total budget exceeded',
  },
  {
    name: 'a member budget',
    accounts: (limit) => team('daily: null', member(limit)),
    message: 'member budget exceeded',
  },
];

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

describe.each(limits)('$name', ({ accounts, message }) => {
  test('includes earlier spending', { timeout: 30_000 }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-later-'));
    const configOf = (limit: string | null) =>
      parseConfig(configuration(directory, accounts(limit)), {
        file: 'test.yaml',
        environment: {},
        bundledModels: [],
      });
    let app = await start(configOf(null));
    onTestFinished(async () => {
      await app.close();
      rmSync(directory, { recursive: true, force: true });
    });
    expect(await post(app)).toMatchObject({ status: 200 });

    // Less than the one request has cost.
    await app.reload(configOf('0.001'));
    await expect.poll(() => post(app), { timeout: 5_000 }).toMatchObject({ text: message });
    await app.close();
    app = await start(configOf('0.001'));
    expect(await post(app)).toMatchObject({ text: message });

    await app.reload(configOf('50'));
    await expect.poll(() => post(app), { timeout: 5_000 }).toMatchObject({ status: 200 });
  });
});

function configuration(directory: string, accounts: string): string {
  return `
server: { port: 0, drain_timeout: 2s }
storage: { url: "sqlite:${directory}/test.db", data_dir: "${directory}" }
channels:
  - name: sim
    provider: simulator
    base_url: ${simulator.url}
    protocols: [chat]
    models: [{ name: priced, upstream: demo-chat }]
models:
  - { id: priced, type: chat, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }
${accounts}
`;
}

const start = (config: Parameters<typeof startApp>[0]['config']): Promise<App> =>
  startApp({
    config,
    logger: { info() {}, warn() {}, error() {}, request() {}, dropped: 0 },
  });

async function post(app: App): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'priced', messages: [{ role: 'user', content: 'hello' }] }),
  });
  const body = (await response.json()) as { readonly error?: { readonly message: string } };
  return { status: response.status, text: body.error?.message.split(/[,:.]/)[0] ?? '' };
}
