import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';
import { createTestDatabase, isSkipped, type TestDatabase } from '../database/databases.ts';
import { hasBrowser, visit } from './browser.ts';
import { ask, secrets, setPassword } from './people.ts';

/* The operator's first question: which channel fails, since when, in which words? On a fleet, and after a restart. */

const config = `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat] }
  - name: azure-eu
    provider: simulator
    base_url: SIMULATOR/fault(status=500)
    protocols: [chat]
    models: [demo-reasoning]
users: [{ email: operator@example.com, role: operator, balance: 100 }]
keys: [{ name: theirs, user: operator@example.com, secret: ${secrets.member} }]
secrets: { master_key: '${randomBytes(32).toString('base64')}' }
`;

const isLeftOut = !hasBrowser || isSkipped('postgres');
let database: TestDatabase;
let nodes: TestGateway[] = [];

async function start(): Promise<void> {
  for (let node = 0; node < 2; node += 1) {
    nodes.push(await startTestGateway({ databaseUrl: database.url, config, beatEvery: 100 }));
  }
}

async function stop(): Promise<void> {
  for (const node of nodes) await node.close();
  nodes = [];
}

beforeAll(async () => {
  if (isLeftOut) return;
  database = await createTestDatabase('postgres');
  await start();
  await setPassword(nodes[0] as TestGateway, 'operator@example.com');
});

afterAll(async () => {
  if (isLeftOut) return;
  await stop();
  await database.drop();
});

/** What an operator finds at this node, from the overview on. */
async function findOut({ url }: TestGateway) {
  const { page, signInAt, complaints } = await visit(url, 'UTC');
  await signInAt('/', 'operator@example.com');
  const line = page.getByRole('listitem').filter({ hasText: 'azure-eu fails' });
  await line.waitFor();
  const overview = await line.innerText();
  await page.evaluate(
    'document.addEventListener("click", () => (window.clicks = (window.clicks ?? 0) + 1), true)',
  );
  await line.getByRole('link').first().click();
  const failure = page
    .getByRole('row')
    .filter({ hasText: 'azure-eu' })
    .filter({ hasText: 'Simulated failure' });
  await failure.waitFor();
  const health = await failure.innerText();
  const last = failure.getByRole('link', { name: /^\d\d:/ });
  const request = await last.getAttribute('href');
  const clicks = await page.evaluate('window.clicks');
  await page.goto(`${url}/console/explain?model=demo-reasoning`);
  await page.getByText('azure-eu would be asked first, but it fails.').waitFor();
  expect(complaints).toEqual([]);
  return { overview, health, request, clicks };
}

test.skipIf(isLeftOut)(
  'which channel fails, since when and in which words is one click from the overview of each node, also after a restart',
  { timeout: 120_000 },
  async () => {
    const [here, there] = nodes as [TestGateway, TestGateway];
    await ask(here, secrets.member);
    for (let round = 0; round < 3; round += 1) await ask(here, secrets.member, 'demo-reasoning');
    const rows = await here.usage();
    const found = await findOut(there);
    // The attempt failed within the request, maybe in its next second.
    const first = Date.parse(rows.at(2)?.time ?? '');
    const seconds = [first, first + (rows.at(2)?.duration_ms ?? 0)].map((time) =>
      new Date(time).toISOString().slice(11, 19),
    );
    const since = (length: number) =>
      `(?:${seconds.map((second) => second.slice(0, length)).join('|')})`;
    expect(found).toEqual({
      clicks: 1,
      overview: expect.stringMatching(`Since .*${since(5)}, 3 attempts failed: failed upstream`),
      health: expect.stringMatching(
        `${since(8)}[^]*500 server_error: Simulated failure[^]*3 of 3 attempts`,
      ),
      request: `/console/requests/${rows[0]?.id}`,
    });
    await stop();
    await start();
    for (const node of nodes) expect(await findOut(node)).toEqual(found);
  },
);
