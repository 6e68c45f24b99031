import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createSecrets, openDatabase } from '#database/index.ts';
import { recordAudit, replacePassword } from '#administration/index.ts';
import { createTestDatabase } from '../database/databases.ts';
import { startGatewayPlace } from '../support/gateway-place.ts';
import { makeManyRows } from '../usage/many-rows.ts';
import { secret } from '../workers/workplace.ts';
import { visit } from './browser.ts';
import { password, passwordHash } from './people.ts';
import { logIn, type Person, signIn } from './person.ts';

/*
 * What the console's pages take, and what they cost the requests for models, with many rows. The figures are printed;
 * they depend on the machine.
 */

const email = 'administrator@example.com';
const config = `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat] }
users: [{ email: tester@example.com, balance: 100000 }, { email: ${email}, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`;
const rounds = 5;
const count = Number(process.env['SLUICE_READ_ROWS'] ?? 1_000_000);
/** Seconds of each measurement under load. */
const seconds = Number(process.env['SLUICE_BOUND_SECONDS'] ?? 20);

const median = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
const percentile = (values: readonly number[], part: number) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * part)] ?? Number.NaN;

/** Resident memory of a process without what it shares, in MiB. */
function memoryOf(pid: number | undefined): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  return Number(/^Pss: +(\d+) kB/m.exec(rollup)?.[1]) / 1024;
}

/** Requests for a model at even distances, whatever becomes of them. @returns how long each took, in ms */
async function serve(url: string, rate: number, lasting = seconds): Promise<number[]> {
  const times: number[] = [];
  const open: Promise<void>[] = [];
  const start = performance.now();
  for (let at = 0; at < rate * lasting; at += 1) {
    await wait(Math.max(0, start + (at * 1000) / rate - performance.now()));
    open.push(one());
  }
  await Promise.all(open);
  return times;

  async function one() {
    const before = performance.now();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello!' }] }),
    });
    await response.text();
    expect(response.status).toBe(200);
    times.push(performance.now() - before);
  }
}

/** What the pages read, over and over; the gateway allows four readers at once. */
async function readAll(person: Person, readers: number, until: Promise<unknown>): Promise<number> {
  const paths = [
    '/overview',
    '/usage?limit=50',
    '/usage/sums?by=model,day&metric=cost',
    '/usage/histogram',
    '/usage/latency?by=model',
    '/usage/facets',
  ];
  const over = ending(until);
  let answered = 0;
  const reader = async (at: number) => {
    for (let n = at; !over.aborted; n += 1) {
      const response = await person.get(paths[n % paths.length] ?? '');
      await response.text();
      if (response.status === 200) answered += 1;
    }
  };
  await Promise.all(Array.from({ length: readers }, (_, at) => reader(at)));
  return answered;
}

/** A signal that says that something is over. */
function ending(work: Promise<unknown>): AbortSignal {
  const end = new AbortController();
  void work.finally(() => end.abort());
  return end.signal;
}

async function largestContent(page: Page): Promise<number> {
  const read = `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: 'largest-contentful-paint', buffered: true }))`;
  return page.evaluate<number>(read);
}

test('the pages and what they cost', { timeout: 1_800_000 }, async () => {
  const figures: Record<string, string> = {};
  const { url: databaseUrl, drop } = await createTestDatabase('sqlite');
  await makeManyRows('sqlite', databaseUrl, count, Date.now() - 3_600_000);
  const without = await startGatewayPlace({ config: `console: { enabled: false }\n${config}` });
  const place = await startGatewayPlace({ databaseUrl, config });
  const { url, gateway } = place;

  const database = openDatabase({ url: databaseUrl });
  const secrets = createSecrets(Buffer.alloc(32, 1));
  const administration = { database, secrets, audit: recordAudit, now: Date.now };
  await replacePassword(administration, { kind: 'command', name: 'test' }, { email, passwordHash });
  await database.close();
  const opened = await visit(url);
  const { page } = opened;
  await serve(url, 50, 5);
  await wait(3_000);
  const idle = memoryOf(gateway.child.pid);

  await opened.signInAt('/', email);
  await page.getByRole('navigation').first().waitFor();
  const session = await page.context().newCDPSession(page);
  for (const [name, rate] of [
    ['Overview, largest content, ms', 1],
    ['Overview, largest content, CPU slowed fourfold, ms', 4],
  ] as const) {
    await session.send('Emulation.setCPUThrottlingRate', { rate });
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await page.goto(`${url}/console/`);
      await page.waitForLoadState('networkidle');
      times.push(await largestContent(page));
    }
    figures[name] = median(times).toFixed(0);
  }
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });

  // Every step ends when its rows are there.
  let asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/admin/v1/usage')) asked.push(new URL(request.url()).pathname);
  });
  const rows = page.locator('tbody tr');
  const steps: Record<string, () => Promise<void>> = {
    open: async () => {
      await page.goto(`${url}/console/requests?range=30d`);
      await rows.nth(49).waitFor();
    },
    filter: async () => {
      const filter = page.getByRole('combobox', { name: 'Filter' });
      await filter.fill('model:model-3');
      const answer = page.waitForResponse((response) => response.url().includes('model=model-3'));
      await page.keyboard.press('Enter');
      await answer;
      await rows.first().waitFor();
    },
    'next page': async () => {
      await page.getByRole('button', { name: 'Older requests' }).click();
      await rows.nth(60).waitFor();
    },
  };
  for (const [name, step] of Object.entries(steps)) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await page.goto(`${url}/console/requests?range=30d`);
      await rows.nth(49).waitFor();
      await page.waitForLoadState('networkidle');
      asked = [];
      const before = performance.now();
      await step();
      times.push(performance.now() - before);
    }
    figures[`Requests, ${name}, ms`] = `${median(times).toFixed(0)} (${asked.join(' ')})`;
  }
  figures['memory after these pages, MiB more'] = (memoryOf(gateway.child.pid) - idle).toFixed(1);
  figures['memory at rest with and without a console, MiB'] =
    `${idle.toFixed(0)} ${memoryOf(without.gateway.child.pid).toFixed(0)}`;

  // As they happen.
  await page.goto(`${url}/console/requests?live=true`);
  await session.send('Performance.enable');
  const metrics = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
  };
  await serve(url, 100, 5);
  const first = await metrics();
  await serve(url, 100, 30);
  const middle = await metrics();
  await serve(url, 100, 30);
  const last = await metrics();
  const share = ((last['TaskDuration'] ?? 0) - (first['TaskDuration'] ?? 0)) / 60;
  figures['live at 100 rows a second, % of a core'] = (share * 100).toFixed(1);
  figures['live, heap after 0, 30 and 60 s, MiB'] = [first, middle, last]
    .map((each) => ((each['JSHeapUsedSize'] ?? 0) / 2 ** 20).toFixed(1))
    .join(' ');
  expect(await rows.count()).toBeGreaterThan(0);
  expect(opened.complaints).toEqual([]);

  // What models' requests notice.
  const person = await signIn(url, email, password);
  await serve(url, 100, 5);
  const alone = await serve(url, 100);
  figures['models, p50 and p99, ms'] = show(alone);
  for (const readers of [1, 4]) {
    const load = serve(url, 100);
    const answered = await readAll(person, readers, load);
    figures[`the same beside ${answered} reads, ${readers} at once`] = show(await load);
  }

  // Two hundred wrong guesses a second.
  const statuses: Record<string, number> = {};
  const guessed = serve(url, 50);
  const over = ending(guessed);
  const open: Promise<void>[] = [];
  while (!over.aborted) {
    open.push(guess(open.length));
    await wait(5);
  }
  await Promise.all(open);
  figures[`models beside ${open.length} guesses in ${seconds} s`] = show(await guessed);
  figures['statuses of the guesses'] = JSON.stringify(statuses);
  // Whoever was signed in stays so.
  expect((await person.get('/session')).status).toBe(200);
  console.table(figures);
  await drop();

  async function guess(at: number) {
    const response = await logIn(
      url,
      at % 2 === 0 ? email : `${at}@example.com`,
      'a wrong password',
    );
    await response.text();
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
  }

  function show(times: readonly number[]) {
    return `${percentile(times, 0.5).toFixed(1)} ${percentile(times, 0.99).toFixed(1)}`;
  }
});
