import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { config, signInAs, startWithPeople } from './people.ts';
import { hasBrowser, visit } from './browser.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startWithPeople({
    config: `console: { members: { playground: false } }\n${config}`,
  });
});
afterAll(() => gateway.close());

test('with console.members.playground: false only administrators have a key for it', async () => {
  for (const [who, status] of [
    ['member', 403],
    ['viewer', 403],
    ['admin', 200],
  ] as const) {
    const person = await signInAs(gateway, who);
    expect([who, (await person.send('POST', '/playground/key', {})).status]).toEqual([who, status]);
    const session = (await (await person.get('/session')).json()) as {
      readonly playground: boolean;
    };
    expect([who, session.playground]).toEqual([who, status === 200]);
  }
});

test.runIf(hasBrowser)(
  'search, shortcuts and rail reach what a person may use, and nothing else',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = await visit(gateway.url);
    await signInAt('/models', 'member@example.com');
    const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor();
    await heading('Models');
    expect(await page.getByRole('link', { name: 'Playground' }).count()).toBe(0);

    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Command palette' });
    await field.fill('page');
    const options = page.getByRole('listbox').getByRole('option');
    const pagesFound = await options.allTextContents();
    expect(pagesFound.map((text) => text.replace('Page', ''))).toEqual([
      'Home',
      'Requests',
      'Usage',
      'Models',
      'Keys',
      'Settings',
    ]);
    expect(await axeProblems()).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heading('Usage');

    await page.keyboard.press('Control+k');
    await field.fill('demo-chat model');
    await page.keyboard.press('Enter');
    await heading('demo-chat');
    await page.keyboard.press('Control+k');
    await field.fill('req_0000000000');
    await page.getByRole('option', { name: 'req_0000000000' }).click();
    await page.waitForURL('**/console/requests/req_0000000000');

    await page.keyboard.press('Control+k');
    await field.fill('dark');
    expect(await page.locator('html').getAttribute('data-theme')).toBe(null);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark');

    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await heading('Keys');
    await page.keyboard.press('Control+k');
    await field.fill('new key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New key' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await isWider()).toBe(false);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.route('**/admin/v1/models', (route) => route.fulfill({ status: 503, body: '{}' }));
    await page.reload();
    await heading('Keys');
    await page.keyboard.press('Control+k');
    await field.fill('demo-chat');
    await page.getByRole('dialog').getByText('This could not be loaded').waitFor();
    expect(await page.getByText('Nothing has this name.').count()).toBe(0);
    // There is no such request, and no list of models.
    expect(complaints.filter((text) => !/404|503/.test(text))).toEqual([]);
  },
);

test.runIf(hasBrowser)('administrators keep the playground', { timeout: 120_000 }, async () => {
  const { page, signInAt, complaints } = await visit(gateway.url);
  await signInAt('/models', 'admin@example.com');
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByRole('heading', { name: 'Playground' }).waitFor();
  expect(complaints).toEqual([]);
});
