import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { ask, password, secrets } from './people.ts';

const { gateway, opened } = await startJourney();

test.runIf(hasBrowser)(
  'a person signs in, finds a request, sees why it cost what it did, and leaves',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    const id = await ask(gateway, secrets.member);
    await ask(gateway, secrets.admin, 'nothing-like-it');
    const row = (await gateway.usage()).find((each) => each.id === id);

    // An address that needs a session leads to the sign-in, and back.
    await signInAt('/requests?filter=key%3Amembers', 'admin@example.com', 'wrong');
    await page.getByText('the e-mail address or the password is wrong').waitFor();
    complaints.length = 0;
    expect(await axeProblems()).toEqual([]);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');

    // By keyboard alone: the first row, then its receipt.
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();
    expect(page.url()).toBe(`${gateway.url}/console/requests?filter=key%3Amembers`);
    await expect.poll(() => rows.count()).toBe(1);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Request' });
    await panel.getByRole('heading', { name: 'Receipt' }).waitFor();
    expect(page.url()).toContain(`open=${id}`);
    const total = panel.locator('tfoot tr').last();
    expect(await total.locator('.money').getAttribute('title')).toBe(`${row?.cost} USD`);
    await expect.poll(() => panel.locator('code', { hasText: id }).count()).toBe(1);
    expect(await axeProblems()).toEqual([]);

    // The request has an address of its own.
    await page.goto(`${gateway.url}/console/requests/${id}`);
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();

    await page.goto(`${gateway.url}/console/requests?filter=colour:red`);
    await page.getByText("'colour:red' (character 1): there is no filter 'colour'").waitFor();

    // In the other language and theme, on a phone.
    await page.goto(`${gateway.url}/console/`);
    await page.getByRole('link', { name: 'demo-chat' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.locator('summary').click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('heading', { name: '概览' }).waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await isWider()).toBe(false);
    await page.goto(`${gateway.url}/console/requests?open=${id}`);
    await page.getByRole('heading', { name: '账单' }).waitFor();
    expect(await isWider()).toBe(false);
    expect(await axeProblems()).toEqual([]);

    // Who leaves sees nothing any more.
    await page.locator('summary').click();
    await page.getByRole('button', { name: '退出登录' }).click();
    await page.locator('[name=password]').waitFor();
    await page.goBack();
    await page.locator('[name=password]').waitFor();
    // The browser says so of the filter that the gateway refused.
    expect(complaints.filter((text) => !text.includes('status of 400'))).toEqual([]);
  },
);
