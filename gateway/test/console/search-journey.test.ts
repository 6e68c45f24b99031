import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';
import { hasBrowser, visit, type Visit } from './browser.ts';
import { ask, config, secrets, setPasswords } from './people.ts';

/** More keys than one answer of the gateway has. */
const many = Array.from({ length: 230 }, (_, at) => `run-${String(at).padStart(3, '0')}`);
const keys = many.map((name) => `  - { name: ${name}, user: admin@example.com }\n`).join('');

let gateway: TestGateway;
let opened: Visit;

beforeAll(async () => {
  if (!hasBrowser) return;
  gateway = await startTestGateway({ config: config + keys });
  await setPasswords(gateway);
  opened = await visit(gateway.url);
}, 60_000);

afterAll(async () => {
  await opened?.close();
  await gateway?.close();
});

test.runIf(hasBrowser)(
  'keys are found by name however many there are, and what a page shows is exported from the search',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems } = opened;
    await signInAt('/keys', 'admin@example.com');
    const names = page.locator('tbody tr td:first-child a');
    await names.first().waitFor();
    expect(await names.count()).toBe(50);
    await page.keyboard.press('/');
    await page.keyboard.type('RUN-22');
    await expect.poll(() => names.count()).toBe(10);
    expect(new URL(page.url()).searchParams.get('q')).toBe('RUN-22');
    expect(await axeProblems()).toEqual([]);
    await page.reload();
    await expect.poll(() => names.allTextContents()).toContain('run-229');
    await page.getByLabel('Search keys').fill('%');
    await page.getByText('No key has this in its name.').waitFor();
    await page.getByLabel('Search keys').fill('');
    await expect.poll(() => names.count()).toBe(50);

    // The search has the first 200 keys at once, and asks for the rest.
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Find or do' });
    await field.fill('key run-229');
    const found = page.getByRole('listbox').getByRole('option');
    await found.filter({ hasText: 'run-229' }).waitFor();
    expect(await found.count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    expect(new URL(page.url()).searchParams.get('filter')).toMatch(/^key:key_/);

    const own = await ask(gateway, secrets.admin);
    await ask(gateway, secrets.member);
    await gateway.usage();
    await page.goto(`${gateway.url}/console/requests?filter=key:admins`);
    await page.getByRole('link', { name: `Open request ${own}` }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('export');
    const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(own);

    // A line that cannot be read would be another list than the one on the page.
    await page.goto(`${gateway.url}/console/requests?filter=nonsense`);
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('export');
    await page.getByText('Nothing has this name.').waitFor();
    expect(complaints).toEqual([]);
  },
);
