import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { config } from './people.ts';

/* What is set for the gateway, as an administrator reads it, and what another file would make of it. */

const { gateway, opened } = await startJourney({
  config: `${config}limits: { in_flight: 40 }\nmetrics: { token: "\${TOKEN}" }\n`,
  environment: { TOKEN: 'canary-of-the-metrics' },
});

test.runIf(hasBrowser)(
  'an administrator finds a setting with its line, and sees what a pasted file would change',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    await signInAt('/settings', 'admin@example.com');
    await page.getByRole('tab', { name: 'Gateway' }).click();
    await page.waitForURL(/\/settings\/gateway$/);
    const row = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
    await expect
      .poll(() => row('limits.in_flight').innerText())
      .toMatch(/40\s+5000\s+test\.yaml:\d+/);
    expect(await row('limits.queue').innerText()).toMatch(/500\s+default/);
    expect(await row('metrics.token').innerText()).toMatch(/set\s+test\.yaml:\d+, \$TOKEN/);
    expect(await page.content()).not.toContain('canary');
    expect(await axeProblems()).toEqual([]);

    await page.getByLabel('Only what differs from the defaults').check();
    await row('limits.queue').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByLabel('Search settings').fill('token');
    await row('limits.in_flight').waitFor({ state: 'detached' });
    expect(await row('metrics.token').count()).toBe(1);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export what is declared' }).click();
    expect((await download).suggestedFilename()).toBe('sluice.yaml');

    // What is wrong is said with its line; what is right is compared.
    const text = page.getByLabel('Text of a configuration file');
    const show = page.getByRole('button', { name: 'Show the plan' });
    await text.fill('limits:\n  in_fligt: 80');
    await show.click();
    await page.getByText('2: limits.in_fligt: expected a known key').waitFor();
    // The browser itself reports the refusal.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    await text.fill(
      config
        .replace('SIMULATOR', gateway.simulator.url)
        .replace('models: [demo-chat]', 'models: [demo-chat]\n    weight: 3\n    api_key: ${KEY}')
        .concat('limits: { in_flight: 80 }'),
    );
    await show.click();
    const entries = page.getByRole('list', { name: 'What would change' });
    expect(await entries.innerText()).toMatch(/Change channel sim\s+weight\s+1 → 3/);
    await page.getByText('limits.in_flight').last().waitFor();
    await page.getByText('3 places are not compared').click();
    await page.getByText('a secret').first().waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await isWider()).toBe(false);
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(complaints).toEqual([]);

    // A member has no such tab, and the address shows nothing.
    await page.context().clearCookies();
    await signInAt('/settings/gateway', 'member@example.com');
    await page.getByText('Your role does not allow this page.').waitFor();
    expect(await page.getByRole('tab', { name: 'Gateway' }).count()).toBe(0);
  },
);
