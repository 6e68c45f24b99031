import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasBrowser, startJourney, visit } from './browser.ts';
import { ask, secrets } from './people.ts';

const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, messages]
    models: [demo-chat, demo-reasoning, lab-image, bare-chat]
models:
  - id: lab-image
    type: image
    price: { image_tiers: [{ name: 2K, max_pixels: 4194304, price: 0.045 }] }
  - { id: bare-chat, type: chat }
aliases: { quick: demo-chat }
users:
  - { email: admin@example.com, role: admin, balance: 100 }
  - { email: member@example.com }
  - { email: viewer@example.com, role: viewer }
  - { email: operator@example.com, role: operator }
keys:
  - { name: admins, user: admin@example.com, secret: ${secrets.admin} }
`;

const { gateway, opened } = await startJourney({ config });

test.runIf(hasBrowser)(
  'a person looks for a model, sees what it costs and how it went, and asks it as shown',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    await ask(gateway, secrets.admin);
    await gateway.usage();
    // The list fails once, says so, and comes at the second try.
    await page.route('**/admin/v1/models', (route) =>
      route.fulfill({
        status: 404,
        headers: { 'x-request-id': 'req_lost' },
        json: { error: { code: 'internal', message: 'the list is lost' } },
      }),
    );
    // The name of a tab that it does not have is left out.
    await signInAt('/models?tab=other', 'admin@example.com');
    await page.getByText('the list is lost').waitFor();
    await page.getByText('req_lost').waitFor();
    expect(await axeProblems()).toEqual([]);
    complaints.length = 0;
    await page.unroute('**/admin/v1/models');
    await page.getByRole('button', { name: 'Try again' }).click();

    const rowOf = (name: string) => page.locator('tbody tr', { hasText: name });
    await rowOf('demo-chat').getByText('100 %').waitFor();
    await rowOf('demo-chat').getByText('or quick').waitFor();
    await rowOf('bare-chat').getByText('no price', { exact: true }).waitFor();
    await rowOf('lab-image').getByText('Pictures, 2K 0.045').waitFor();
    expect(await axeProblems()).toEqual([]);

    // In the order that a head is pressed for: what has no value comes last either way.
    const chats = () =>
      page.getByRole('region', { name: 'Chat models' }).locator('tbody a').allTextContents();
    await page.getByRole('button', { name: 'Output' }).click();
    expect(await chats()).toEqual(['demo-chat', 'demo-reasoning', 'bare-chat']);
    await page.getByRole('button', { name: 'Output' }).click();
    await page.waitForURL('**/models?sort=-output');
    expect(await chats()).toEqual(['demo-reasoning', 'demo-chat', 'bare-chat']);
    expect(await page.locator('th[aria-sort]').getAttribute('aria-sort')).toBe('descending');
    expect(await axeProblems()).toEqual([]);
    await page.getByRole('button', { name: 'Output' }).click();
    await page.waitForURL('**/models');
    // By keyboard: from row to row, over both tables.
    const focused = () => page.evaluate('document.activeElement.textContent');
    await page.getByRole('heading', { name: 'Models', exact: true }).click();
    for (const key of ['j', 'j', 'k', 'k', 'j']) await page.keyboard.press(key);
    expect(await focused()).toBe((await chats())[1]);

    // And the search, which is in the address.
    await page.keyboard.press('/');
    await page.keyboard.type('quick');
    await rowOf('lab-image').waitFor({ state: 'detached' });
    expect(page.url()).toBe(`${gateway.url}/console/models?q=quick`);
    await page.keyboard.type(' and none');
    await page.getByText('No model matches “quick and none”.').waitFor();
    // Esc empties the field, and leaves it when it is empty.
    await page.keyboard.press('Escape');
    await rowOf('lab-image').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    expect(await focused()).toBe((await chats())[0]);
    await page.goto(`${gateway.url}/console/models`);
    await page.getByRole('button', { name: 'Without a price 1' }).click();
    await rowOf('demo-chat').waitFor({ state: 'detached' });
    await expect.poll(() => rowOf('bare-chat').count()).toBe(1);

    await page.goto(`${gateway.url}/console/models/demo-chat`);
    await page.getByRole('heading', { name: 'Prices since' }).waitFor();
    await page.getByText('of 1 requests').waitFor();
    await expect.poll(() => page.getByRole('heading', { name: 'Channels' }).count()).toBe(1);
    await page.getByRole('tab', { name: 'chat', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    expect(page.url()).toContain('?speak=messages');
    await page.getByRole('tab', { name: 'Codex' }).click();
    const codex = page.getByRole('region', { name: 'Codex, ~/.codex/config.toml' });
    expect(await codex.textContent()).toContain(`base_url = "${gateway.url}/v1"`);
    expect(page.url()).toContain('?speak=messages&client=Codex');
    expect(await axeProblems()).toEqual([]);
    for (const tab of ['chat', 'messages', 'responses', 'generate-content']) {
      await page.getByRole('tab', { name: tab, exact: true }).click();
      const line = (await page.getByRole('region', { name: 'curl' }).textContent()) ?? '';
      const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -sf`], {
        env: { ...process.env, SLUICE_KEY: secrets.admin },
      });
      expect([tab, stdout]).toEqual([tab, expect.stringMatching(/^\{.*(id|candidates)/s)]);
    }
    await page.getByRole('link', { name: 'Requests', exact: true }).last().click();
    await page.locator('tbody tr').first().waitFor();
    expect(page.url()).toContain('filter=model%3Ademo-chat');

    // In the other language and theme, on a phone.
    await page.goto(`${gateway.url}/console/models`);
    await page.locator('summary').click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('heading', { name: '模型', exact: true }).waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    for (const path of ['models', 'models/demo-chat', 'models/nothing-like-it']) {
      await page.goto(`${gateway.url}/console/${path}`);
      await page.locator('table, [role=alert]').first().waitFor();
      expect([path, await axeProblems()]).toEqual([path, []]);
      expect([path, await isWider()]).toEqual([path, false]);
    }
    // The browser itself reports the model that does not exist.
    expect(complaints).toEqual([expect.stringContaining('404')]);
  },
);

test.runIf(hasBrowser)(
  'a member sees no channels, and no models where none are served',
  { timeout: 120_000 },
  async () => {
    const member = await visit(gateway.url);
    const { page, signInAt, complaints } = member;
    await signInAt('/models/demo-chat', 'member@example.com');
    await page.getByRole('heading', { name: 'Prices since' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Channels' }).count()).toBe(0);
    await page.route('**/admin/v1/models', (route) => route.fulfill({ json: { data: [] } }));
    await page.goto(`${gateway.url}/console/models`);
    await page.getByText('An administrator can change that.').waitFor();
    expect(await member.axeProblems()).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'an operator gives a price, sees what it would have made, adds a model, an alias and a group',
  { timeout: 120_000 },
  async () => {
    const own = await visit(gateway.url);
    const { page, signInAt, complaints, axeProblems, isWider } = own;
    await ask(gateway, secrets.admin);
    await gateway.usage();
    await signInAt('/models/demo-chat', 'operator@example.com');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Input', { exact: true }).fill('1000');
    await dialog.getByRole('button', { name: 'What would it have cost?' }).click();
    await dialog.getByText(/were charged in 30 days/).waitFor();
    await dialog.getByRole('cell', { name: 'admin@example.com' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await dialog.getByLabel('Output', { exact: true }).fill('-1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/Enter a price in USD per million tokens/).waitFor();
    const isWrong = await dialog.getByLabel('Output', { exact: true }).getAttribute('aria-invalid');
    expect(isWrong).toBe('true');
    // A reload leaves what was typed.
    await dialog.getByLabel('Output', { exact: true }).fill('2000');
    await dialog.getByLabel('Name for people').fill('House chat');
    await page.reload();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.getByText('This is what you had typed here and not saved.').waitFor();
    expect(await dialog.getByLabel('Name for people').inputValue()).toBe('House chat');
    expect(await dialog.getByLabel('Output', { exact: true }).inputValue()).toBe('2000');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('declared in the console').waitFor();
    await page.getByRole('cell', { name: '2,000.00' }).waitFor();
    await page.getByText('House chat').waitFor();
    const price = () => gateway.app.catalogue.snapshot().models.get('demo-chat')?.price;
    await expect.poll(price).toMatchObject({ input: '1000', output: '2000' });

    // Rows of sizes and of resolutions: what is wrong stands at its field, and the preview takes them.
    await page.goto(`${gateway.url}/console/models/demo-image`);
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    const sizes = dialog.getByRole('group', { name: /^Pictures by size \d/ });
    await sizes.first().waitFor();
    const count = await sizes.count();
    await dialog.getByRole('button', { name: 'Add: Pictures by size' }).click();
    await sizes.nth(count).getByLabel('Size', { exact: true }).fill('huge');
    await sizes.nth(count).getByLabel('Up to, pixels', { exact: true }).fill('12');
    await sizes.nth(count).getByLabel('Price', { exact: true }).fill('0.5');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await sizes
      .nth(count)
      .getByText(/Enter more than \d+, the tier before/)
      .waitFor();
    await sizes.nth(count).getByLabel('Up to, pixels', { exact: true }).fill('99000000');
    await dialog.getByRole('button', { name: 'What would it have cost?' }).click();
    await dialog.getByText('Nobody used it in the last 30 days.').waitFor();
    expect(await axeProblems()).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Pictures, huge' }).waitFor();

    await page.goto(`${gateway.url}/console/models`);
    await page.getByRole('button', { name: 'Add a model' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('house-film');
    await dialog.getByLabel('Type').selectOption('Video');
    await dialog.getByRole('button', { name: 'Add: Video by seconds' }).click();
    await dialog.getByLabel('Price', { exact: true }).fill('0.1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Enter a name.').waitFor();
    await dialog.getByLabel(/^Resolution/).fill('720P');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Video, 720P' }).waitFor();
    const film = gateway.app.catalogue.snapshot().models.get('house-film')?.price;
    expect(film).toEqual({ videoSecond: { '720P': '0.1' } });

    await page.getByRole('link', { name: 'Models' }).first().click();
    await page.getByRole('button', { name: 'Add a model' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('house-chat');
    await dialog.getByLabel('Input', { exact: true }).fill('1');
    await dialog.getByLabel('Output', { exact: true }).fill('2');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'house-chat' }).waitFor();
    await page.getByRole('link', { name: 'Models' }).first().click();
    await page.getByLabel('Whole catalogue').check();
    await page.getByRole('link', { name: 'house-chat' }).waitFor();

    await page.getByRole('tab', { name: 'Aliases' }).click();
    await page.getByLabel('Name', { exact: true }).fill('our-best');
    await page.getByLabel('Leads to').fill('house-chat');
    await page.getByRole('option', { name: 'house-chat' }).click();
    await page.getByRole('button', { name: 'Add an alias' }).click();
    await page.getByText('our-best leads to house-chat.').waitFor();
    await page.getByRole('button', { name: 'Remove our-best' }).click();
    await page.getByText(/our-best is gone/).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Remove our-best' }).waitFor();
    expect(await axeProblems()).toEqual([]);

    await page.getByRole('tab', { name: 'Groups' }).click();
    await page.getByLabel('Group', { exact: true }).fill('research');
    await page.getByLabel('Multiplier', { exact: true }).fill('1.5');
    await page.getByRole('button', { name: 'Add a group' }).click();
    const menu = async (group: string, word: string) => {
      await page.getByRole('button', { name: `Change ${group}` }).click();
      await page.getByRole('menuitem', { name: word }).click();
    };
    await menu('default', 'Change the multiplier');
    await dialog.getByLabel('Multiplier').fill('2');
    await dialog.getByRole('button', { name: '90 days' }).click();
    await dialog.getByText(/were charged in 90 days.*100 %/).waitFor();
    await dialog.getByLabel('Multiplier').fill('much');
    await dialog.getByRole('button', { name: 'What would it have cost?' }).click();
    await dialog.getByText(/Enter a factor/).waitFor();
    expect(await axeProblems()).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await menu('research', 'Change the multiplier');
    await dialog.getByLabel('Multiplier').fill('2');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/research multiplies each price by 2/).waitFor();
    const groups = () => [...gateway.app.catalogue.snapshot().groups.keys()];
    await menu('research', 'Disable');
    await dialog.getByText('No key that can be used belongs to it.').waitFor();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('research is disabled. Its keys are refused.').waitFor();
    expect(groups()).toEqual(['default']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('research is enabled.').waitFor();
    expect(groups()).toEqual(['default', 'research']);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await isWider()).toBe(false);
    // The browser itself reports the prices and the factor that were refused.
    const refused = expect.stringContaining('400');
    expect(complaints).toEqual([refused, refused, refused]);
  },
);
