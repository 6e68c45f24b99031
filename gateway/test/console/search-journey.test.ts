import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasBrowser, startJourney, visit } from './browser.ts';
import { ask, config, secrets } from './people.ts';

/** More keys than one answer of the gateway has. */
const many = Array.from({ length: 230 }, (_, at) => `run-${String(at).padStart(3, '0')}`);
const keys = many.map((name) => `  - { name: ${name}, user: admin@example.com }\n`).join('');

const { gateway, opened } = await startJourney({
  config: `${config}${keys}teams: [{ name: explorers }]\n`,
});

test.runIf(hasBrowser)(
  'keys are found by name however many there are, and what a page shows is exported from the search',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems } = opened;
    await signInAt('/keys', 'admin@example.com');
    const names = page.locator('tbody tr td:first-child a');
    await names.first().waitFor();
    await expect.poll(() => names.count()).toBe(50);
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
    const field = page.getByRole('combobox', { name: 'Command palette' });
    await field.fill('key run-229');
    const found = page.getByRole('listbox').getByRole('option');
    await found.filter({ hasText: 'run-229' }).waitFor();
    await expect.poll(() => found.count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    expect(new URL(page.url()).searchParams.get('filter')).toMatch(/^key:key_/);

    // People and teams are sought by the gateway, for those who may read them.
    await page.keyboard.press('Control+k');
    await field.fill('WER@example');
    await found.filter({ hasText: 'viewer@example.com' }).waitFor();
    await expect.poll(() => found.count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'viewer@example.com' }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('team explor');
    await found.filter({ hasText: 'explorers' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Teams / explorers' }).waitFor();

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
    const member = await visit(gateway.url);
    await member.signInAt('/keys', 'member@example.com');
    await member.page.getByText('members').first().waitFor();
    await member.page.keyboard.press('Control+k');
    await member.page.getByRole('combobox', { name: 'Command palette' }).fill('example.com');
    await member.page.getByText('Nothing has this name.').waitFor();
    expect(member.complaints).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'a person chooses columns, keeps a list under a name, and takes a request along as curl',
  { timeout: 120_000 },
  async () => {
    const { page, complaints, axeProblems, isWider } = opened;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await page.goto(`${gateway.url}/console/requests?filter=key:admins`);
    const row = page.locator('tbody tr').first();
    await row.waitFor();
    const titles = () => page.locator('thead th').allTextContents();
    expect(await titles()).toContain('Client');

    // By keyboard alone.
    await page.getByRole('button', { name: 'Columns' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await expect.poll(titles).not.toContain('Client');
    expect(await axeProblems()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('group', { name: 'Columns' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('button', { name: 'Columns' }).getAttribute('aria-expanded')).toBe(
      'false',
    );

    await page.getByRole('button', { name: 'Views' }).click();
    const views = page.getByRole('group', { name: 'Views' });
    await views.getByLabel('Name of this view').fill('Of administrators');
    await page.keyboard.press('Enter');
    await views.getByRole('link', { name: 'Of administrators' }).waitFor();
    expect(await axeProblems()).toEqual([]);

    // Both are there in every browser, and in the search.
    await page.goto(`${gateway.url}/console/requests`);
    await row.waitFor();
    expect(await titles()).not.toContain('Client');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Command palette' }).fill('of adm');
    await page.keyboard.press('Enter');
    await page.waitForURL(/filter=key%3Aadmins/);

    await row.getByRole('link').click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const line = (await copied()) as string;
    expect(line).toContain(`${gateway.url}/v1/chat/completions`);
    expect(line).toContain('Bearer $SLUICE_KEY');
    const sent = await promisify(execFile)('sh', ['-c', line], {
      env: { ...process.env, SLUICE_KEY: secrets.member },
    });
    expect(sent.stdout).toContain('This is the Sluice simulator');

    // On a phone the sheet lies within the page.
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'Views' }).click();
    const box = await views.boundingBox();
    expect(box!.x).toBeGreaterThanOrEqual(0);
    expect(box!.x + box!.width).toBeLessThanOrEqual(390);
    expect(await isWider()).toBe(false);
    await views.getByRole('button', { name: 'Remove Of administrators' }).click();
    await views.getByText('Give this view a name').waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.goto(`${gateway.url}/console/keys?q=admins`);
    await page.getByRole('button', { name: 'Actions of admins' }).click();
    await page.getByRole('menuitem', { name: 'Copy as curl' }).click();
    await page.getByRole('menuitem', { name: 'Copied' }).waitFor();
    expect(await copied()).toContain('Bearer $SLUICE_KEY');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Limits' }).click();
    await expect.poll(titles).not.toContain('Limits');
    await page.keyboard.press('Escape');

    // A view of Usage has its groups and its table.
    await page.goto(`${gateway.url}/console/usage?group=model&view=table`);
    await page.getByRole('button', { name: 'Views' }).click();
    await views.getByLabel('Name of this view').fill('Models in a table');
    await page.keyboard.press('Enter');
    await views.getByRole('link', { name: 'Models in a table' }).waitFor();
    await page.goto(`${gateway.url}/console/usage`);
    await page.getByRole('button', { name: 'Views' }).click();
    await views.getByRole('link', { name: 'Models in a table' }).click();
    await page.waitForURL(/usage\?(?=.*group=model)(?=.*view=table)/);
    await page.getByRole('cell', { name: 'demo-chat' }).first().waitFor();
    expect(complaints).toEqual([]);
  },
);
