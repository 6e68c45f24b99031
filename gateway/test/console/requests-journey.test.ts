import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { ask, secrets } from './people.ts';

const { gateway, opened } = await startJourney();

test.runIf(hasBrowser)(
  'a person narrows the list by words and by time, takes it along, and watches requests come in',
  { timeout: 180_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    await ask(gateway, secrets.member);
    await ask(gateway, secrets.admin);
    await ask(gateway, secrets.admin, 'nothing-like-it');
    await gateway.usage();
    await signInAt('/requests', 'admin@example.com');
    const rows = page.locator('tbody tr');
    await rows.nth(2).waitFor();

    // By words, with what they can be.
    const filter = page.getByRole('combobox', { name: 'Filter' });
    await filter.fill('ke');
    await page.getByRole('option', { name: 'key:' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('option', { name: /^members/ }).click();
    expect(await filter.inputValue()).toBe('key:members ');
    await page.keyboard.press('Enter');
    await page.waitForURL(/filter=key%3Amembers/);
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByText('1 request', { exact: true }).waitFor();
    expect(await axeProblems()).toEqual([]);

    // The file has the same rows.
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV of these requests' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('requests.csv');
    // A file that is cut short is not stored, and that is said.
    await page.route('**/usage/export*', (route) => route.abort());
    await page.getByRole('link', { name: 'CSV of these requests' }).click();
    await page.getByRole('link', { name: 'The file did not arrive' }).waitFor();
    await page.unroute('**/usage/export*');
    // The browser itself reports it.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')]);
    const file = await (await download.createReadStream()).toArray();
    expect(Buffer.concat(file).toString().trimEnd().split('\r\n')).toHaveLength(2);
    await filter.fill('');
    await rows.nth(2).waitFor();

    // The focus returns to the row of a panel that is closed.
    await page.locator('tbody tr a').nth(1).click();
    await page.getByRole('complementary', { name: 'Request' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await expect
      .poll(() => page.evaluate('document.activeElement.ariaLabel'))
      .toBe(await page.locator('tbody tr a').nth(1).getAttribute('aria-label'));

    // By a value of a row: a click on it narrows, one beside it opens the request, and `f` has both and the opposite.
    await page
      .getByRole('cell', { name: /^members/ })
      .getByText('members', { exact: true })
      .click();
    await page.waitForURL((url) => url.searchParams.get('filter') === 'key:members');
    await expect.poll(() => rows.count()).toBe(1);
    await rows.locator('td').last().click();
    const panel = page.getByRole('complementary', { name: 'Request' });
    for (const name of ['members', 'member@example.com', 'demo-chat', 'sim']) {
      await panel.getByRole('link', { name, exact: true }).first().waitFor();
    }
    // Who sent it, and who paid.
    const person = panel.getByRole('link', { name: 'member@example.com', exact: true });
    expect(await person.count()).toBe(2);
    await page.keyboard.press('Escape');
    await filter.fill('');
    await rows.nth(2).waitFor();
    await rows.nth(2).getByRole('link').focus();
    await page.keyboard.press('f');
    const menu = page.getByRole('menu', { name: 'Filter by this row' });
    await menu.getByRole('menuitem', { name: 'Without key:members' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.keyboard.type('Without key');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('filter') === '-key:members');
    await expect.poll(() => rows.count()).toBe(2);
    await filter.fill('');
    await rows.nth(2).waitFor();

    // By time, with the keys alone, and back.
    const histogram = page.getByRole('group', { name: /^Requests over time/ });
    await histogram.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=.*to=/);
    await page.getByText('3 requests', { exact: true }).waitFor();
    await page.getByRole('link', { name: '24 h' }).click();
    await page.waitForURL((url) => !url.search.includes('from='));

    // As they happen; paused, the list stays.
    await page.getByRole('link', { name: 'Live' }).click();
    await page.getByText('Waiting for the next request.').waitFor();
    const chosen = page.getByLabel('Which requests').locator('[aria-current]');
    await expect.poll(() => chosen.allTextContents()).toEqual(['Live']);
    await ask(gateway, secrets.member);
    await expect.poll(() => rows.count()).toBe(1);
    expect(await axeProblems()).toEqual([]);
    await page.getByRole('button', { name: 'Pause' }).click();
    await ask(gateway, secrets.admin);
    await page.getByRole('button', { name: '1 more' }).waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: '1 more' }).click();
    await expect.poll(() => rows.count()).toBe(2);

    // In the other language and theme, on a phone.
    await page.getByRole('link', { name: 'History' }).click();
    await rows.nth(3).waitFor();
    await page.locator('summary').click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.getByText('5 个请求').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await isWider()).toBe(false);
    expect(await axeProblems()).toEqual([]);
    const folder = process.env['SLUICE_SHOTS'];
    if (folder !== undefined) {
      await page.screenshot({ path: `${folder}/requests-phone-zh.png` });
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.screenshot({ path: `${folder}/requests-dark-zh.png` });
      await page.goto(`${gateway.url}/console/requests?live=true`);
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${folder}/live-dark-zh.png` });
    }
    expect(complaints).toEqual([]);
  },
);
