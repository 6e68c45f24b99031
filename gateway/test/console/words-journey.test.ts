import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';
import { knownServers, providerNames } from '#vendors/index.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { en } from '../../../console/src/words/en.ts';
import { hasBrowser, visit, type Visit } from './browser.ts';
import { password, setPassword } from './people.ts';
import { demoConfig, demoModels } from './screens/config.ts';
import { recordHistory } from './screens/history.ts';
import { shotsOf, shownOf, type Shot } from './screens/pages.ts';
import { sendRealRequests } from './screens/real-requests.ts';
import { cutLabels, longer, textsOf, widestOf } from './words.ts';

const person = 'admin@example.com';

let gateway: TestGateway;
let shots: readonly Shot[];

beforeAll(async () => {
  if (!hasBrowser) return;
  gateway = await startTestGateway({ config: demoConfig, bundledModels: demoModels });
  await recordHistory(gateway, 2);
  await sendRealRequests(gateway);
  await setPassword(gateway, person);
  // What models say is theirs.
  shots = shotsOf(await shownOf(gateway)).map(({ prepare, ...shot }) =>
    shot.name === 'playground' || prepare === undefined ? shot : { ...shot, prepare },
  );
}, 120_000);

afterAll(() => gateway?.close());

/** Opens every page in the second language. */
async function eachPage({ page }: Visit, look: (name: string) => Promise<void>): Promise<void> {
  await page.addInitScript(`localStorage.setItem('sluice-language', 'zh-CN')`);
  let isInside = false;
  for (const { name, path, isOutside, prepare } of shots) {
    if (!isInside && isOutside !== true) {
      isInside = true;
      await page.goto(`${gateway.url}/console/sign-in?to=/settings`);
      await page.locator('[name=email]').fill(person);
      await page.locator('[name=password]').fill(password);
      await page.keyboard.press('Enter');
      await page.locator('nav').waitFor();
    }
    await page.goto(`${gateway.url}/console${path}`);
    await page.locator('h1').first().waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await prepare?.(page);
    await look(name);
  }
}

test.runIf(hasBrowser)(
  'words that are more than a third longer break no page',
  { timeout: 300_000 },
  async () => {
    const visited = await visit(gateway.url);
    const { page } = visited;
    // The second language, whose words come when they are needed, is one of long words.
    await page.route('**/assets/zh-*.js', (route) =>
      route.fulfill({
        contentType: 'text/javascript',
        body: `export const zh = ${JSON.stringify(longer(en))}`,
      }),
    );
    const problems: string[] = [];
    await eachPage(visited, async (name) => {
      for (const width of [1440, 720, 390, 360]) {
        await page.setViewportSize({ width, height: 900 });
        if (await visited.isWider())
          problems.push(`${name} at ${width}: scrolls: ${await widestOf(page)}`);
        // Between a phone and a wide page, the words of the menu are hidden.
        const cut = width === 720 ? [] : await cutLabels(page);
        for (const each of cut) problems.push(`${name} at ${width}: ${each}`);
      }
      await page.setViewportSize({ width: 1440, height: 900 });
    });
    await expect.poll(() => page.getByText('Settingseeee').count()).toBeGreaterThan(0);
    expect(problems).toEqual([]);
  },
);

test.runIf(hasBrowser)('a Chinese page has no English word', { timeout: 300_000 }, async () => {
  const { models, aliases, channels, groups } = gateway.app.catalogue.snapshot();
  const db = gateway.app.database.kysely;
  const named = [
    ...models.keys(),
    ...aliases.keys(),
    ...groups.keys(),
    ...channels.flatMap(({ name, provider }) => [name, provider]),
    ...(await db.selectFrom('keys').select('name').execute()).map(({ name }) => name),
    ...(await db.selectFrom('teams').select('name').execute()).map(({ name }) => name),
    ...(await db.selectFrom('users').select(['email', 'name']).execute()).flatMap(
      ({ email, name }) => [email, name ?? email],
    ),
    ...[...models.values()].flatMap(({ displayName, capabilities }) => [
      displayName,
      ...capabilities,
    ]),
  ].toSorted((a, b) => b.length - a.length);
  const visited = await visit(gateway.url);
  const found = new Map<string, string>();
  await eachPage(visited, async (name) => {
    for (const text of await textsOf(visited.page)) {
      const own = named.reduce((rest, each) => rest.replaceAll(each, ' '), ids(text));
      // Words of the filter line are the same in every language.
      for (const [word] of own
        .replaceAll(/\b[a-z]+:[\w-]*/g, ' ')
        .matchAll(/[A-Za-z][A-Za-z_-]+/g)) {
        if (!allowed.has(word) && !vendors.has(word))
          found.set(word, `${name}: ${text.trim().slice(0, 80)}`);
      }
    }
  });
  expect(Object.fromEntries(found)).toEqual({});
});

/** The text without ids, paths of files and what browsers call themselves. */
const ids = (text: string): string =>
  text.replace(/\b(?:req|tx|up|node)_[\w-]+|\b[\da-f]{16}\b|Mozilla\/.*|~\/[\w./-]+/g, '');

const vendors: ReadonlySet<string> = new Set([
  ...providerNames,
  ...knownServers.map(({ name }) => name),
]);

/** Names of programs and protocols, units, and what is written so in every language. */
const allowed = new Set(
  (
    'Sluice USD UTC CSV JSON Markdown Redis SQLite Chrome Linux curl http ms min MB Ctrl Shift Alt Enter Esc esc xx ' +
    'chat messages responses generate-content embeddings images video-synthesis video-contents ' +
    // Clients, and what they are set up with.
    'Claude Code Codex Gemini CLI Cline Continue Cursor Open WebUI Python TypeScript SDK CI env ' +
    // Examples in forms.
    'https api example com direct claude- claude-cli file- ' +
    // Words of filters and roles, and what files and fees are called.
    'model status cost ttft timeout test team research yaml keys channels member viewer billing operator web search SLUICE_KEY admin sh PowerShell ' +
    'claude-code codex opencode open- openai- python eu claude-sonet- OpenID Connect'
  ).split(' '),
);
