import { existsSync, readFileSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, onTestFinished } from 'vitest';
import { keptByProcess } from '../support/footprint.ts';
import type { TestGateway, TestGatewayOptions } from '../support/gateway.ts';
import { password, startWithPeople } from './people.ts';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const program = process.env['SLUICE_TEST_BROWSER'] ?? places.find((path) => existsSync(path));
const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Ends once two frames have each element at the same place, no animation runs and the page has its fonts: charts take
 * the width of a window some frames later, and what is half moved is small or covered for a moment.
 */
const standstill = `(async () => {
  const places = () => JSON.stringify(Array.from(document.querySelectorAll('*'), (each) => each.getBoundingClientRect()));
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  await document.fonts.ready;
  for (let before = '', now = places(); before !== now; before = now, now = places()) {
    await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
    await frame();
  }
})()`;

/** Without a browser the journeys are left out, except where all tests have to run. */
export const hasBrowser = program !== undefined || process.env['CI'] !== undefined;

export interface Visit {
  readonly page: Page;
  /** What must never happen on a page: errors, refusals of the policy, requests to other places. */
  readonly complaints: string[];
  /** Problems of accessibility on the page as it is. */
  axeProblems(): Promise<string[]>;
  /** Whether the page scrolls sideways. */
  isWider(): Promise<boolean>;
  /** Opens a page of the console, and signs in there. */
  signInAt(path: string, email: string, password?: string): Promise<void>;
  close(): Promise<void>;
}

export async function openBrowser(): Promise<Browser> {
  if (program === undefined) throw new Error('no chromium: install it, or set SLUICE_TEST_BROWSER');
  return chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
}

/** One for all files of a process, with which it ends. */
let shared: Promise<Browser> | null = null;

/**
 * Opens an empty page with cookies and a storage of its own, until the end of the test.
 * @param url of the gateway
 * @param timezoneId where its clock is; absent: where this machine's is
 */
export async function visit(url: string, timezoneId?: string): Promise<Visit> {
  const opened = await openPage(url, timezoneId);
  onTestFinished(opened.close);
  return opened;
}

async function openPage(url: string, timezoneId?: string): Promise<Visit> {
  const browser = await (shared ??= keptByProcess(openBrowser));
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    reducedMotion: 'reduce',
    ...(timezoneId !== undefined && { timezoneId }),
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    // Nobody is signed in yet: the browser itself reports the status.
    const isSession = message.location().url.endsWith('/admin/v1/session');
    if (message.type() === 'error' && !isSession) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) complaints.push(request.url());
  });
  return {
    page,
    complaints,
    async axeProblems() {
      await page.evaluate(standstill);
      // Through the debugger: the page's policy forbids scripts from elsewhere.
      const session = await page.context().newCDPSession(page);
      await session.send('Runtime.evaluate', { expression: axe });
      const { result } = await session.send('Runtime.evaluate', {
        // Hidden stops at both ends of an open menu pass the focus on at once, so nobody rests on one.
        expression: `axe.run({ include: [document], exclude: ['[data-base-ui-focus-guard]'] }, {
          runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
          // WCAG 2.5.3; axe calls it experimental.
          rules: { 'label-content-name-mismatch': { enabled: true } },
        })
      .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`,
        awaitPromise: true,
        returnByValue: true,
      });
      await session.detach();
      return result.value as string[];
    },
    async isWider() {
      await page.evaluate(standstill);
      return page.evaluate(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      );
    },
    async signInAt(path, email, secret = password) {
      await page.goto(`${url}/console${path}`);
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(secret);
      // Another page that opens earlier would end the call.
      const answered = page.waitForResponse('**/admin/v1/auth/login');
      await page.keyboard.press('Enter');
      await answered;
    },
    close: () => context.close(),
  };
}

/** What the tests of a file share. */
interface Journey {
  readonly gateway: TestGateway;
  readonly opened: Visit;
}

/**
 * Starts a gateway whose people can sign in, and opens an empty page there, until all tests of the file are done. Without
 * a browser it starts nothing: the tests are left out then.
 * @param prepare before the page is opened
 */
export async function startJourney(
  options: TestGatewayOptions = {},
  prepare?: (gateway: TestGateway) => Promise<unknown>,
): Promise<Journey> {
  if (!hasBrowser) return {} as Journey;
  const gateway = await startWithPeople(options);
  afterAll(() => gateway.close());
  await prepare?.(gateway);
  const opened = await openPage(gateway.url);
  afterAll(opened.close);
  return { gateway, opened };
}
