import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { password } from './people.ts';

const own = 'a password of my own';

const { gateway, opened } = await startJourney({}, ({ app }) =>
  // As if the first start had created the person.
  app.database.kysely
    .updateTable('users')
    .set({ owner: 'system' })
    .where('email', '=', 'admin@example.com')
    .execute(),
);

test.runIf(hasBrowser)(
  'whoever set the gateway up gets a password, a key, and sees the first request come in',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    await signInAt('/', 'admin@example.com');
    await page.getByRole('heading', { name: 'Your own password' }).waitFor();
    expect(page.url()).toBe(`${gateway.url}/console/welcome`);
    // The way to the overview leads there.
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Your own password' }).waitFor();
    expect(await axeProblems()).toEqual([]);

    // What is wrong is said at its field.
    await page.getByLabel('Present password').fill('not the one');
    await page.getByLabel('New password').fill(own);
    await page.keyboard.press('Enter');
    await page.getByText('this is not the present password').waitFor();
    // The browser itself reports the refusal.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    await page.getByLabel('Present password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('The printed one no longer works.').waitFor();

    // An upstream: whose key it is, is seen by its form where only one vendor has such keys.
    await page.getByText('every answer comes from the built-in simulator').waitFor();
    const field = (label: string) => page.getByLabel(label, { exact: true });
    await field('API key').fill('sk-0123456789abcdef0123456789abcdef');
    await page.getByText(/^Keys of this form are those of .*openai.*\. Choose one\.$/).waitFor();
    expect(await field('Vendor').inputValue()).toBe('');
    await field('API key').fill('xai-0123456789abcdef');
    expect(await field('Vendor').inputValue()).toBe('xai');
    await field('Vendor').selectOption('openai-compatible');
    await field('API key').fill('invalid-0123456789abcdef');
    await field('Base address').fill(`${gateway.simulator.url}/v1`);
    // What was typed waits in the tab, but for the key.
    await page.reload();
    await page.getByText('Keys and other secrets are not kept: paste them again.').waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('0123456789abcdef');
    expect(await field('Base address').inputValue()).toBe(`${gateway.simulator.url}/v1`);
    await field('API key').fill('invalid-0123456789abcdef');
    // Without a model nothing is sent, and no step is said to have failed.
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText('There is nothing to ask.').waitFor();
    expect(await page.getByText('Resolve').count()).toBe(0);
    await field('Model to ask').fill('demo-chat');
    await page.getByRole('button', { name: 'Test again' }).click();
    await page.getByText('The upstream refuses this key.').waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.getByRole('button', { name: 'Give another key' }).click();
    await page.keyboard.type('key-good-0123456789abcdef');
    await page.getByRole('button', { name: 'Test again' }).click();
    await page.getByText('The channel works.').waitFor();
    await page.getByRole('button', { name: 'Find the models' }).click();
    await page.getByLabel('demo-chat', { exact: true }).check();
    await page.getByRole('button', { name: 'Use it with one model' }).click();
    await page.getByText('Requests go to openai-compatible.').waitFor();

    await page.getByLabel('Name').fill('notebook');
    await page.getByRole('button', { name: 'Make the key' }).click();
    await page.getByText('Waiting for a request with the key').waitFor();
    expect(await axeProblems()).toEqual([]);
    const line = (await page.getByRole('region', { name: 'curl' }).textContent()) ?? '';
    await page.getByRole('tab', { name: 'Python' }).click();
    expect(await page.getByRole('region', { name: 'Python' }).textContent()).toContain(
      `base_url="${gateway.url}/v1"`,
    );
    await promisify(execFile)('sh', ['-c', `${line} -sf`]);
    await gateway.usage();
    await page.getByRole('link', { name: 'See its receipt' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await isWider()).toBe(false);
    await page.setViewportSize({ width: 1440, height: 900 });

    await page.getByRole('button', { name: 'To the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.content()).not.toMatch(/sk-[0-9A-Za-z]{40}/);
    // Done once: the address leads to the overview from now on.
    await page.goto(`${gateway.url}/console/`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(complaints).toEqual([]);
  },
);
