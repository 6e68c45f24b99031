import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { startTestGateway } from '#test/support/gateway.ts';
import { openBrowser } from '../browser.ts';
import { password, setPassword } from '../people.ts';
import { signIn } from '../person.ts';
import { demoConfig, demoModels } from './config.ts';
import { recordHistory } from './history.ts';
import { shotsOf, shownOf, type Shot } from './pages.ts';
import { sendRealRequests } from './real-requests.ts';

/*
 * Pictures of every page of the console, in both themes and languages, wide and on a phone, of a gateway with a
 * realistic past: to be looked at. `--only PART` takes those whose name has it, `--look dark-390` those of the looks
 * whose name has that, `--person` who is signed in, `--times 28` that many requests and as much money as a small house has. `--documents` makes
 * those of the documentation instead. The pages that waited longest for their data are printed.
 */

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    look: { type: 'string', default: '' },
    person: { type: 'string', default: 'admin@example.com' },
    times: { type: 'string', default: '1' },
    documents: { type: 'boolean', default: false },
  },
});
const root = resolve(import.meta.dirname, '../../../..');
const folder = join(root, values.documents ? 'docs/console' : 'console/screens');

/** The pictures of the documentation: what is shown, and how. */
const documents: Readonly<Record<string, readonly string[]>> = {
  'en-light-1440': ['overview', 'requests', 'request', 'models', 'playground'],
  'en-dark-1440': ['usage', 'key-new'],
  'zh-CN-light-390': ['request-retried'],
};

const looks = ['en', 'zh-CN'].flatMap((language) =>
  ['light', 'dark'].flatMap((theme) =>
    [
      { width: 1440, height: 900 },
      { width: 1024, height: 768 },
      { width: 390, height: 844 },
    ].map((viewport) => ({
      language,
      theme,
      viewport,
      name: `${language}-${theme}-${viewport.width}`,
    })),
  ),
);
type Look = (typeof looks)[number];

/** From the call of each page until it had the last of its data. */
const waits: { readonly page: string; readonly milliseconds: number }[] = [];

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const times = Number(values.times);
const config = demoConfig.replace(
  /(balance|quota|monthly|total): (\d+)/g,
  (_, name: string, amount: string) => `${name}: ${Number(amount) * times}`,
);
const gateway = await startTestGateway({ config, bundledModels: demoModels });
try {
  await recordHistory(gateway, 6, times);
  await sendRealRequests(gateway);
  await setPassword(gateway, values.person);
  const person = await signIn(gateway.url, values.person, password);
  // A key that may be changed, beside those of the file.
  await person.send('POST', '/keys', { name: 'notebook', quota: '60', rpm: 60 });
  const shots = shotsOf(await shownOf(gateway)).filter(({ name }) => name.includes(values.only));
  const browser = await openBrowser();
  for (const look of looks.filter(({ name }) => name.includes(values.look))) {
    const names = documents[look.name];
    if (!values.documents) await shoot(look, shots, join(folder, look.name));
    else
      await shoot(
        look,
        shots.filter(({ name }) => names?.includes(name) === true),
        folder,
      );
  }
  if (!values.documents) writeFileSync(join(folder, 'index.html'), indexOf(shots));
  await browser.close();
  console.table(waits.toSorted((one, other) => other.milliseconds - one.milliseconds).slice(0, 10));
  process.stdout.write(`${folder}\n`);

  async function shoot(look: Look, all: readonly Shot[], into: string): Promise<void> {
    if (all.length === 0) return;
    mkdirSync(into, { recursive: true });
    const context = await browser.newContext({
      viewport: look.viewport,
      locale: look.language,
      timezoneId: 'Europe/Berlin',
    });
    await context.addInitScript(
      ({ language, theme }) => {
        localStorage.setItem('sluice-language', language);
        localStorage.setItem('sluice-theme', theme);
      },
      { language: look.language, theme: look.theme },
    );
    const page = await context.newPage();
    let answered = 0;
    page.on('requestfinished', (request) => {
      if (request.url().includes('/admin/v1/')) answered = performance.now();
    });
    const inside = all.filter(({ isOutside }) => isOutside !== true);
    for (const shot of all.filter((each) => !inside.includes(each))) await take(shot);
    await page.goto(`${gateway.url}/console/sign-in?to=/settings`);
    await page.locator('[name=email]').fill(values.person);
    await page.locator('[name=password]').fill(password);
    await page.keyboard.press('Enter');
    await page.locator('nav').waitFor();
    for (const shot of inside) await take(shot);
    await context.close();

    async function take({ name, path, prepare }: Shot): Promise<void> {
      const start = performance.now();
      await page.goto(`${gateway.url}/console${path}`);
      await page.locator('h1').first().waitFor();
      await settled();
      waits.push({ page: `${look.name} ${name}`, milliseconds: Math.round(answered - start) });
      await prepare?.(page);
      await settled();
      if (values.documents) await photograph(page, join(into, `${name}.webp`));
      else await page.screenshot({ path: join(into, `${name}.png`), fullPage: true });
      process.stderr.write('.');
    }

    /** Everything that was asked for has come, and nothing is shown as loading. */
    async function settled(): Promise<void> {
      while ((await page.locator('.skeleton').count()) > 0) await page.waitForTimeout(50);
      await page.waitForTimeout(300);
    }
  }
} finally {
  await gateway.close();
}

/** What is seen without scrolling, as a small file. */
async function photograph(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 85 });
  await session.detach();
  writeFileSync(path, data, 'base64');
}

function indexOf(shots: readonly Shot[]): string {
  const rows = shots.map(
    ({ name }) =>
      `<h2>${name}</h2><p>${looks
        .map(
          (look) =>
            `<a href="${look.name}/${name}.png"><img src="${look.name}/${name}.png" alt="${look.name}" title="${look.name}"></a>`,
        )
        .join('')}</p>`,
  );
  return `<!doctype html><meta charset="utf-8"><title>Console</title>
<style>body{font:13px system-ui;margin:24px}p{display:flex;gap:8px;align-items:start;overflow-x:auto}img{height:320px;border:1px solid #888}</style>
<h1>The console’s pages</h1>
${rows.join('\n')}
`;
}
