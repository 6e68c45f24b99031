import { existsSync, readFileSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, password, secrets, startWithPeople } from './people.ts';

const browsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const program = process.env['SLUICE_TEST_BROWSER'] ?? browsers.find((path) => existsSync(path));
const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

let gateway: TestGateway;
let browser: Browser;
let page: Page;
/** What must never happen on a page: errors, refusals of the policy, requests to other places. */
const complaints: string[] = [];

const isWanted = program !== undefined || process.env['CI'] !== undefined;

beforeAll(async () => {
  if (!isWanted) return;
  if (program === undefined) throw new Error('no chromium: install it, or set SLUICE_TEST_BROWSER');
  gateway = await startWithPeople();
  browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  page = await browser.newPage({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    // Nobody is signed in yet: the browser itself reports the status.
    const isSession = message.location().url.endsWith('/admin/v1/session');
    if (message.type() === 'error' && !isSession) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(gateway.url)) complaints.push(request.url());
  });
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await gateway?.close();
});

/** Problems of accessibility on the page as it is. */
async function axeProblems(): Promise<string[]> {
  // Through the debugger: the page's policy forbids scripts from elsewhere.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: axe });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return result.value as string[];
}

test.runIf(isWanted)(
  'a person signs in, finds a request, sees why it cost what it did, and leaves',
  { timeout: 120_000 },
  async () => {
    const id = await ask(gateway, secrets.member);
    await ask(gateway, secrets.admin, 'nothing-like-it');
    const row = (await gateway.usage()).find((each) => each.id === id);

    // An address that needs a session leads to the sign-in, and back.
    await page.goto(`${gateway.url}/console/requests?filter=key%3Amembers`);
    await page.getByLabel('E-mail address').fill('admin@example.com');
    await page.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('the e-mail address or the password is wrong').waitFor();
    complaints.length = 0;
    expect(await axeProblems()).toEqual([]);
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');

    // By keyboard alone: the first row, then its receipt.
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();
    expect(page.url()).toBe(`${gateway.url}/console/requests?filter=key%3Amembers`);
    expect(await rows.count()).toBe(1);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Request' });
    await panel.getByRole('heading', { name: 'Receipt' }).waitFor();
    expect(page.url()).toContain(`open=${id}`);
    const total = panel.locator('tfoot tr').last();
    expect(await total.locator('.money').getAttribute('title')).toBe(`${row?.cost} USD`);
    expect(await panel.locator('code', { hasText: id }).count()).toBe(1);
    expect(await axeProblems()).toEqual([]);

    // The request has an address of its own.
    await page.goto(`${gateway.url}/console/requests/${id}`);
    await page.getByRole('heading', { name: 'Receipt' }).waitFor();

    await page.goto(`${gateway.url}/console/requests?filter=colour:red`);
    await page.getByText('There is no filter “colour:red”.').waitFor();

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
    const isWider = () =>
      page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    expect(await isWider()).toBe(false);
    await page.goto(`${gateway.url}/console/requests?open=${id}`);
    await page.getByRole('heading', { name: '账单' }).waitFor();
    expect(await isWider()).toBe(false);
    expect(await axeProblems()).toEqual([]);

    // Who leaves sees nothing any more.
    await page.locator('summary').click();
    await page.getByRole('button', { name: '退出登录' }).click();
    await page.locator('#password').waitFor();
    await page.goBack();
    await page.locator('#password').waitFor();
    expect(complaints).toEqual([]);
  },
);
