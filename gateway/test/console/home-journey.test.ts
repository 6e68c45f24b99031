import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { ask, secrets } from './people.ts';

const config = `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat] }
users:
  - { email: member@example.com, balance: 100 }
  - { email: mate@example.com }
teams:
  - name: crew
    balance: 50
    budget: { monthly: 30 }
    members: [{ user: member@example.com }, { user: mate@example.com }]
keys:
  - { name: crews, user: member@example.com, team: crew, secret: ${secrets.member} }
`;

const { gateway, opened } = await startJourney({ config }, async (started) => {
  await ask(started, secrets.member);
  await started.usage();
});

test.runIf(hasBrowser)(
  'a member sees what is left of the own money and the team’s, and what has changed',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    await signInAt('/', 'member@example.com');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByRole('link', { name: 'Home' }).waitFor();
    const left = page.getByRole('region', { name: 'What you have left' });
    await left.getByText('crew, this month is the nearest limit.').waitFor();
    const meters = left.getByRole('meter');
    await expect.poll(() => meters.count()).toBe(3);
    // The nearest limit first.
    expect(await meters.first().getAttribute('aria-label')).toContain('crew, this month: 0.0');
    expect(await left.getByText('shared by 2').count()).toBe(2);
    expect(await axeProblems()).toEqual([]);

    await page.goto(`${gateway.url}/console/usage?group=model&sub=key`);
    await page.getByLabel('What changed').check();
    const changes = page.getByRole('region', { name: 'What changed' }).locator('tbody tr');
    await changes.filter({ hasText: 'crews' }).getByText('new').waitFor();
    expect(await changes.locator('td:first-child').allTextContents()).toEqual(
      expect.arrayContaining(['Key', 'Model', 'Person']),
    );
    // Against days of one's own choice: today has the same requests, so nothing differs.
    const today = await page.getByLabel('to', { exact: true }).getAttribute('max');
    await page.goto(
      `${gateway.url}/console/usage?group=model&sub=key&compare=true&range=today&tz=UTC`,
    );
    await page.getByLabel('Against, from').fill(today ?? '');
    await page.waitForURL(new RegExp(`against=${today}\\.\\.${today}`));
    await page.getByText('costs more or less than in that span.').waitFor();
    await page.getByRole('button', { name: 'The span before' }).click();
    await changes.filter({ hasText: 'crews' }).getByText('new').waitFor();
    await page.goto(`${gateway.url}/console/usage?group=model&sub=key&compare=true`);
    // A click beside a name narrows to it; with Alt it is left out.
    const sums = page.getByRole('group', { name: 'Sums' });
    const cell = sums.getByRole('cell', { name: 'crews' });
    const { width = 0 } = (await cell.boundingBox()) ?? {};
    await cell.click({ position: { x: width - 4, y: 8 } });
    await page.waitForURL((url) => url.searchParams.get('filter') === 'key:crews');
    await page.goBack();
    await sums.getByRole('link', { name: 'crews' }).click({ modifiers: ['Alt'] });
    await page.waitForURL(/filter=-key%3Acrews/);
    await page.getByText('Nothing has been used in this range.').waitFor();
    await page.goBack();
    const charts = page.getByRole('region', { name: 'A chart for each group' });
    await charts.getByText('demo-chat').waitFor();
    await charts.getByText('crews').waitFor();
    await page.getByRole('region', { name: 'Speed' }).getByText('100 %').waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await isWider()).toBe(false);
    expect(await axeProblems()).toEqual([]);
    await page.goto(`${gateway.url}/console`);
    await meters.first().waitFor();
    expect(await isWider()).toBe(false);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${gateway.url}/console/requests`);
    await page.getByRole('cell', { name: 'demo-chat' }).click({ modifiers: ['Alt'] });
    await page.waitForURL(/filter=-model%3Ademo-chat/);
    await page.getByText('No request matches').waitFor();
    expect(complaints).toEqual([]);
  },
);
