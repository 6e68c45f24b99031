import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { hasBrowser, visit, type Visit } from './browser.ts';
import { ask, password, secrets, startWithPeople } from './people.ts';
import { signIn, type Person } from './person.ts';

/* Channels at the console: what they do, when they are asked, and how they are added, tried and changed. */

let gateway: TestGateway;
let admin: Person;
let opened: Visit;

beforeAll(async () => {
  if (!hasBrowser) return;
  gateway = await startWithPeople();
  admin = await signIn(gateway.url, 'admin@example.com', password);
  await ask(gateway, secrets.admin);
  await gateway.usage();
  opened = await visit(gateway.url);
}, 60_000);

afterAll(async () => {
  await opened?.close();
  await gateway?.close();
});

const spare = {
  name: 'spare',
  provider: 'openai-compatible',
  models: ['demo-chat', 'demo-image'],
  api_keys: ['sk-upstream-0123456789abcdef'],
  priority: -1,
};

test.runIf(hasBrowser)(
  'priority and weight are changed in their cells, and a channel is disabled with a view of what stops',
  { timeout: 120_000 },
  async () => {
    const base_url = `${gateway.simulator.url}/v1`;
    expect((await admin.send('POST', '/channels', { ...spare, base_url })).status).toBe(201);
    const { page, signInAt, complaints, axeProblems } = opened;
    await signInAt('/channels', 'admin@example.com');
    const row = (name: string) => page.locator('tbody tr', { hasText: name });
    // Of the file: with its place, and nothing to change here.
    await row('sim').getByText('file').waitFor();
    expect(await row('sim').getByRole('spinbutton').count()).toBe(0);
    expect(await row('sim').innerText()).toMatch(/answers[^]*1[^]*100 %/);
    const words = await page.getByTitle(/change it in .*\.yaml, channels\[0\]/).count();
    expect(words).toBe(1);
    await row('spare').getByText('sk-…cdef').waitFor();
    expect(await axeProblems()).toEqual([]);

    // Enter saves, and says what follows; Undo takes it back. Esc keeps the old value.
    const priority = page.getByLabel('Priority of spare');
    await priority.fill('5');
    await priority.press('Escape');
    expect(await priority.inputValue()).toBe('-1');
    await priority.fill('0');
    await priority.press('Enter');
    const toast = page.getByRole('status').filter({ hasText: 'spare' });
    await toast.getByText('spare now has priority 0. It gets about 50 %').waitFor();
    const weight = page.getByLabel('Weight of spare');
    await weight.fill('3');
    await weight.press('Enter');
    await toast.getByText('It gets about 75 % of what it shares with sim.').waitFor();
    expect(await axeProblems()).toEqual([]);
    await toast.getByRole('button', { name: 'Undo' }).click();
    await toast.getByText('spare is as before.').waitFor();
    await expect.poll(() => weight.inputValue()).toBe('1');

    // Somebody else was first: nothing is overwritten.
    const { revision } = (await (await admin.get('/channels/spare')).json()) as {
      revision: number;
    };
    const theirs = { 'if-match': `"${revision}"` };
    const changed = await admin.send('PATCH', '/channels/spare', { weight: 7 }, theirs);
    expect(changed.status).toBe(200);
    await weight.fill('2');
    await weight.press('Enter');
    await page.getByText('Somebody has changed spare meanwhile').waitFor();
    await expect.poll(() => weight.inputValue()).toBe('7');
    // The browser itself reports the refusal.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('412')]);

    // What a disable stops is known before.
    const act = async (action: string) => {
      await row('spare').getByRole('button', { name: 'Actions of spare' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await act('Disable');
    const dialog = page.getByRole('dialog', { name: 'Disable spare' });
    await dialog.getByText('One model has no other channel.').waitFor();
    await dialog.getByText('demo-image').waitFor();
    expect(await axeProblems()).toEqual([]);
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await row('spare').getByText('disabled').waitFor();
    await expect.poll(() => gateway.app.catalogue.snapshot().channels).toHaveLength(1);
    await page.getByRole('button', { name: 'Disabled 1' }).click();
    expect(await row('sim').count()).toBe(0);
    await act('Enable');
    await toast.getByText('spare is asked again.').waitFor();
    await page.getByText('No channel of 2 matches.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('Search channels').fill('image');
    await row('sim').waitFor({ state: 'detached' });
    expect(await row('spare').count()).toBe(1);
    expect(complaints).toEqual([]);
  },
);
