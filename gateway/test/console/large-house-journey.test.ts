import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { ask, secrets } from './people.ts';

/* A house of many people and keys, with names as people really give them, and a file that changes under an open page. */

const long = 'a-name-of-two-hundred-characters-'.repeat(7).slice(0, 200);
const rightToLeft = 'مفتاح الاختبار';
const emoji = '👩🏽‍🔬 lab 🧪';
/** Ends the effect of an embedding that somebody left open in a name: it must not turn the rest of the page round. */
const override = '\u202Egnp.yek';

const names = [long, rightToLeft, emoji, override];

const people = Array.from({ length: 200 }, (_, index) => ({
  email: `person-${String(index).padStart(3, '0')}@example.com`,
  name: names[index] ?? `Person ${index}`,
  balance: 10,
}));
const keys = Array.from({ length: 500 }, (_, index) => ({
  name: names[index] ?? `key-${String(index).padStart(3, '0')}`,
  user: `person-${String(index % 200).padStart(3, '0')}@example.com`,
  secret: `sk-house${String(index).padStart(3, '0')}-0123456789abcdefghijklmnop`,
}));
const teams = names.map((name, index) => ({
  name,
  budget: { monthly: 10 },
  members: [{ user: `person-00${index}@example.com` }],
}));

const file = (weight: number) => `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, models: [demo-chat], weight: ${weight} }
  - { name: ${JSON.stringify(long)}, provider: simulator, base_url: SIMULATOR, models: [demo-reasoning] }
users: ${JSON.stringify([{ email: 'admin@example.com', role: 'admin', balance: 100 }, ...people])}
teams: ${JSON.stringify(teams)}
keys: ${JSON.stringify([...keys, { name: 'admins', user: 'admin@example.com', secret: secrets.admin }])}
`;

const framesAreCut =
  '[...document.querySelectorAll(".scroll")].some((each) => each.scrollWidth > each.clientWidth + 8)';

const { gateway, opened } = await startJourney({ config: file(1) }, async (started) => {
  for (const { secret } of keys.slice(0, 6)) await ask(started, secret);
  await started.usage();
});

test.runIf(hasBrowser)(
  '500 keys and 200 people are searched, paged and read, whatever their names are',
  { timeout: 180_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    await signInAt('/keys', 'admin@example.com');
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();
    const search = page.getByPlaceholder('Name of a key');
    for (const name of names) {
      await search.fill(name.slice(0, 20));
      await rows.filter({ hasText: name.slice(0, 20) }).waitFor();
      await expect.poll(() => rows.count()).toBe(1);
    }
    await search.fill('key-49');
    await expect.poll(() => rows.count()).toBe(10);
    await page.goto(`${gateway.url}/console/people`);
    const shown = new Set<string>();
    await rows.first().waitFor();
    for (;;) {
      for (const text of await rows.locator('td:first-child').allInnerTexts()) shown.add(text);
      const more = page.getByRole('button', { name: /more/i });
      if ((await more.count()) === 0) break;
      const before = await rows.count();
      await more.click();
      await expect.poll(() => rows.count()).toBeGreaterThan(before);
    }
    // The administrators: of the file, and of the test gateway.
    expect(shown.size).toBe(202);

    const wrong: object[] = [];
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of [
        '/keys',
        '/people',
        '/people/person-000@example.com',
        '/teams',
        `/teams/${encodeURIComponent(long)}`,
        `/teams/${encodeURIComponent(rightToLeft)}`,
        `/teams/${encodeURIComponent(override)}`,
        '/channels',
        `/channels/${encodeURIComponent(long)}`,
        '/requests',
        '/usage?group=key&view=table',
        '/health',
      ]) {
        await page.goto(`${gateway.url}/console${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.locator('.skeleton').first().waitFor({ state: 'detached' });
        const problems = await axeProblems();
        // On a large page no column stands outside its frame.
        const isCut = width > 1000 && (await page.evaluate(framesAreCut));
        if (problems.length > 0 || isCut || (await isWider()))
          wrong.push({ width, path, problems });
      }
    }
    expect(wrong).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'the file changes while a page is open: the page follows, and what the file owns stays its own',
  { timeout: 120_000 },
  async () => {
    const { page, complaints } = opened;
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.clock.install();
    await page.goto(`${gateway.url}/console/channels/sim`);
    const weight = page.getByLabel('Weight', { exact: true });
    await expect.poll(() => weight.inputValue()).toBe('1');
    await gateway.reload(file(7));
    await page.clock.fastForward(30_000);
    await expect.poll(() => weight.inputValue()).toBe('7');
    expect(await weight.isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
  },
);
