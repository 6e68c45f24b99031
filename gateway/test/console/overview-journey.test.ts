import { expect, test } from 'vitest';
import { hasBrowser, startJourney, visit } from './browser.ts';
import { ask, password, secrets } from './people.ts';

const teamSecret = 'sk-team-0123456789abcdefghijklmnopqrstuv';
const soon = new Date(Date.now() + 3 * 86_400_000).toISOString();
const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, messages]
    models: [demo-chat, nobody-knows-its-price]
models:
  - { id: nobody-knows-its-price, type: chat }
teams:
  - name: research
    balance: 100
    budget: { total: 0.00005 }
    members: [{ user: member@example.com }]
users:
  - { email: admin@example.com, role: admin, balance: 100 }
  - { email: member@example.com, balance: 100 }
keys:
  - { name: admins, user: admin@example.com, secret: ${secrets.admin} }
  - { name: members, user: member@example.com, secret: ${secrets.member}, expires_at: '${soon}' }
  - { name: teams, user: member@example.com, team: research, secret: ${teamSecret} }
`;

const { gateway, opened } = await startJourney({ config }, async (started) => {
  for (const secret of [secrets.admin, secrets.member, teamSecret]) await ask(started, secret);
  await ask(started, secrets.admin, 'nothing-like-it');
  await started.usage();
  // Its quota is lowered to less than it has spent.
  const { kysely } = started.app.database;
  await kysely.updateTable('keys').set({ quota: 1n }).where('name', '=', 'teams').execute();
});

test.runIf(hasBrowser)(
  'a person sees what was used and what has to be done, and every figure leads to its requests',
  { timeout: 180_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    const folder = process.env['SLUICE_SHOTS'];
    const shot = async (name: string): Promise<void> => {
      if (folder !== undefined)
        await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
    };
    await signInAt('/', 'admin@example.com');

    // All channels of this gateway lead to simulators, and whoever can change that is shown where.
    const note = page.getByRole('status').filter({ hasText: 'Every answer comes from' });
    await note.getByRole('link', { name: 'Add a channel' }).waitFor();
    await page.getByText('nobody-knows-its-price has no price').waitFor();
    await page.getByText('Budget of research at 88 %').waitFor();
    await page.getByText('Key members ends soon').waitFor();
    await page.getByText('Key teams is used up').waitFor();
    await page.getByRole('link', { name: 'demo-chat' }).waitFor();
    await shot('overview');
    expect(await axeProblems()).toEqual([]);

    // A model's figure and the list that it opens are the same.
    await page.getByRole('link', { name: 'demo-chat' }).click();
    await page.getByText('3 requests', { exact: true }).waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(3);
    await page.goBack();
    await page.getByRole('link', { name: '4', exact: true }).click();
    await page.getByText('4 requests', { exact: true }).waitFor();
    await page.goBack();

    await page.getByRole('link', { name: 'Key', exact: true }).click();
    await page.waitForURL(/group=key/);
    await page.getByRole('link', { name: 'teams', exact: true }).waitFor();
    await page.getByRole('link', { name: 'See its use' }).click();
    await page.waitForURL(/\/usage\?.*filter=team%3Aresearch/);

    // Usage: whatever is chosen stands in the address.
    await page.getByRole('link', { name: 'member@example.com' }).waitFor();
    await page.getByRole('combobox', { name: 'By', exact: true }).selectOption('key');
    await page.getByRole('combobox', { name: 'Then by' }).selectOption('model');
    await page.getByRole('combobox', { name: 'Show' }).selectOption('requests');
    await page.getByLabel('As a table').check();
    await page.getByLabel('Running total').check();
    await page.waitForURL(
      (url) =>
        url.searchParams.get('group') === 'key' &&
        url.searchParams.get('sub') === 'model' &&
        url.searchParams.get('metric') === 'requests' &&
        url.searchParams.get('view') === 'table' &&
        url.searchParams.get('cumulative') === 'true',
    );
    await page.reload();
    await page.getByRole('link', { name: 'teams', exact: true }).waitFor();
    expect(await page.getByLabel('As a table').isChecked()).toBe(true);
    expect(await axeProblems()).toEqual([]);
    await page.getByLabel('As a table').uncheck();
    await page.getByLabel('Running total').uncheck();
    const filter = page.getByRole('combobox', { name: 'Filter' });
    await filter.fill('status:4xx');
    await page.keyboard.press('Enter');
    await page
      .getByText('sums are filtered by model, key, user, team, channel, client only')
      .first()
      .waitFor();
    // A figure of two names opens its own requests, within the filter.
    await filter.fill('client:other');
    await page.keyboard.press('Enter');
    await page.waitForURL(/filter=client/);
    const row = page.getByRole('row', { name: /admins.*demo-chat/ });
    await row.getByRole('link', { name: 'admins' }).click();
    await page.getByText('1 request', { exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('filter')).toBe(
      'client:other key:admins model:demo-chat asked:yes',
    );
    await page.goBack();
    await filter.fill('');
    await page.getByRole('link', { name: 'admins', exact: true }).first().waitFor();
    // Speed and shares over time are lines, with one scale and one legend.
    const show = page.getByRole('combobox', { name: 'Show' });
    await show.selectOption('First token, p95, seconds');
    await page.waitForURL(/metric=firstToken95/);
    await page.getByRole('heading', { name: 'First token, p95, seconds by Key' }).waitFor();
    await page.getByRole('combobox', { name: 'By', exact: true }).selectOption('model');
    await page.getByRole('heading', { name: 'First token, p95, seconds by Model' }).waitFor();
    await page.getByRole('combobox', { name: 'Then by' }).selectOption('channel');
    const each = page.getByRole('region', { name: 'A chart for each group' });
    await each.getByRole('listitem').filter({ hasText: 'sim' }).waitFor();
    await page.getByLabel('As a table').check();
    await page
      .getByRole('cell', { name: /^[\d.]+ m?s$/ })
      .first()
      .waitFor();
    await show.selectOption('Success, %');
    await page.getByRole('cell', { name: '100 %', exact: true }).first().waitFor();
    expect(await page.getByLabel('Running total').isDisabled()).toBe(true);
    await page.getByLabel('As a table').uncheck();
    expect(await axeProblems()).toEqual([]);
    await shot('usage-success');
    await page.getByRole('combobox', { name: 'By', exact: true }).selectOption('key');
    await page.getByRole('combobox', { name: 'Then by' }).selectOption('model');
    await show.selectOption('Cost, USD');
    // In another order, which the address keeps; the totals stand below.
    await page.getByRole('button', { name: 'Key', exact: true }).click();
    await page.waitForURL(/sort=name/);
    const firsts = page.locator('tbody td:first-child');
    await expect
      .poll(() => firsts.allTextContents())
      .toEqual(['admins', 'admins', 'members', 'teams']);
    await page.getByRole('row', { name: /^All 4 / }).waitFor();
    // Figures of before are dimmed while those that were asked for load.
    const gate = Promise.withResolvers<void>();
    await page.route('**/usage/sums*', async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: '7 d' }).click();
    await page.locator('section.stale tbody').waitFor();
    gate.resolve();
    await page.locator('.stale').first().waitFor({ state: 'detached' });
    await page.unroute('**/usage/sums*');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const file = Buffer.concat(await (await download.createReadStream()).toArray()).toString();
    expect(file).toContain('teams,demo-chat,1,0,0,');
    await shot('usage');
    expect(await axeProblems()).toEqual([]);

    // In the other language and theme, on a phone.
    await page.locator('summary').click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('heading', { name: '用量' }).waitFor();
    await page.locator('summary').click();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await isWider()).toBe(false);
    expect(await axeProblems()).toEqual([]);
    await shot('usage-phone-zh');
    await page.goto(`${gateway.url}/console/`);
    await page.getByText('research 的预算已用 88 %').waitFor();
    await page.getByRole('link', { name: 'demo-chat' }).waitFor();
    expect(await isWider()).toBe(false);
    expect(await axeProblems()).toEqual([]);
    await shot('overview-phone-zh');
    await page.setViewportSize({ width: 1440, height: 900 });
    await shot('overview-dark-zh');

    // A member hears of what is theirs.
    await page.locator('summary').click();
    await page.getByRole('button', { name: '退出登录' }).click();
    await page.locator('[name=email]').fill('member@example.com');
    await page.locator('[name=password]').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('密钥 members 即将到期').waitFor();
    expect(await page.getByText('nobody-knows-its-price').count()).toBe(0);
    expect(await page.getByRole('status').getByRole('link').count()).toBe(0);
    expect(await page.getByText('的预算已用').count()).toBe(0);
    // The browser says so of the filter that the gateway refused.
    expect(complaints.filter((text) => !text.includes('status of 400'))).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'where days begin within an hour, the charts have the days of UTC, and a line about it',
  { timeout: 60_000 },
  async () => {
    const there = await visit(gateway.url, 'Asia/Kolkata');
    await there.signInAt('/usage?range=30d', 'admin@example.com');
    // In the language that they chose before.
    await there.page.getByText(/UTC.*Asia\/(Kolkata|Calcutta)/).waitFor();
    expect(there.complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'a page that cannot be loaded stays inside the frame, and comes by itself once it can be',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, axeProblems } = await visit(gateway.url);
    await signInAt('/', 'member@example.com');
    await page.getByRole('link', { name: 'Settings' }).waitFor();
    for (const path of ['**/assets/*', '**/console/']) {
      await page.route(path, (route) => route.abort());
    }
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('It is tried again').waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    for (const path of ['**/assets/*', '**/console/']) await page.unroute(path);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
  },
);

test.runIf(hasBrowser)(
  'a person chooses days of a calendar and the zone in which they begin',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, axeProblems, complaints } = await visit(gateway.url, 'Europe/Berlin');
    await signInAt('/usage', 'member@example.com');
    await page.getByRole('button', { name: 'Days' }).click();
    const calendar = page.getByRole('dialog', { name: 'Time range' });
    await calendar.getByRole('table').first().waitFor();
    expect(await axeProblems()).toEqual([]);
    await calendar.getByRole('button', { name: 'This month' }).click();
    await page.waitForURL(/range=month/);
    // Two days, the last one first; their end is the beginning of the day after.
    await page.getByRole('button', { name: 'This month' }).click();
    await calendar.getByRole('button', { name: 'Earlier month' }).click();
    const days = calendar.getByRole('table').first().getByRole('button');
    await days.nth(9).click();
    await calendar.getByText('Choose the last day.').waitFor();
    await days.nth(7).click();
    await page.waitForURL(/from=/);
    const { searchParams } = new URL(page.url());
    const [from, to] = ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''));
    const clock = new Intl.DateTimeFormat('en-GB', {
      timeZone: 'Europe/Berlin',
      day: 'numeric',
      hour: 'numeric',
    });
    expect([clock.format(from), clock.format(to)]).toEqual(['8, 00', '11, 00']);
    // Another zone stays from page to page.
    await page.locator('nav.segments button').click();
    await calendar.getByRole('combobox', { name: 'Time zone' }).selectOption('UTC');
    await page.keyboard.press('Escape');
    await calendar.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Home' }).click();
    await page.waitForURL(/\/console\/\?tz=UTC/);
    await page.getByRole('button', { name: 'Days UTC' }).waitFor();
    expect(complaints).toEqual([]);
  },
);
