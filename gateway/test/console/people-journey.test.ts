import { expect, test } from 'vitest';
import { hasBrowser, startJourney, visit } from './browser.ts';
import { widestOf } from './words.ts';
import { ask, config, secrets, signInAs } from './people.ts';

const teams = `
teams:
  - { name: filed, balance: 5, budget: { total: 5 }, members: [{ user: member@example.com }] }
`;
const { gateway } = await startJourney({
  config: config.replace('users:', 'users:\n  - { email: owner@example.com }') + teams.slice(1),
});

test.runIf(hasBrowser)(
  'an administrator invites a person, who sets a password, makes a key, sends a request and sees it',
  { timeout: 120_000 },
  async () => {
    const admin = await visit(gateway.url);
    const { page } = admin;
    await admin.signInAt('/people', 'admin@example.com');
    const rowOf = (name: string) => page.locator('tbody tr', { hasText: name });
    const dialog = page.getByRole('dialog');
    const act = async (name: string, action: string) => {
      await rowOf(name)
        .getByRole('button', { name: `Actions of ${name}` })
        .click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await rowOf('member@example.com').waitFor();
    expect(await admin.axeProblems()).toEqual([]);

    // By keyboard alone. What is wrong is said at its field.
    await page.keyboard.press('n');
    await dialog.getByLabel('E-mail address').waitFor();
    await page.keyboard.type('vera@example.com');
    await dialog.getByLabel('Name', { exact: true }).fill('Vera');
    await dialog.getByLabel('Quota, USD').fill('much');
    await dialog.getByRole('button', { name: 'Invite' }).click();
    await dialog.getByText('expected an amount in USD').waitFor();
    // The browser itself reports the refusal.
    expect(admin.complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    expect(await admin.axeProblems()).toEqual([]);
    await dialog.getByLabel('Quota, USD').fill('60');
    await dialog.getByLabel('Opening balance, USD').fill('5');
    await page.keyboard.press('Enter');
    const shown = page.getByRole('dialog', { name: 'A link for Vera' });
    const link = (await shown.locator('#invitation').textContent()) ?? '';
    expect(link).toMatch(new RegExp(`^${gateway.url}/console/invite#[\\w-]{43}$`));
    expect(await admin.axeProblems()).toEqual([]);
    await shown.getByRole('button', { name: 'I have it' }).click();
    await rowOf('Vera')
      .getByText(/^invited until/)
      .waitFor();
    expect(await page.content()).not.toContain(link);

    // The person, in another browser.
    const vera = await visit(gateway.url);
    await vera.page.goto(link);
    await vera.page.getByLabel('Password').fill('short');
    await vera.page.getByRole('button', { name: 'Set the password' }).click();
    // The browser says what is wrong, and nothing is sent.
    await vera.page.getByLabel('Password').fill('a first good password');
    expect(await vera.axeProblems()).toEqual([]);
    await vera.page.getByRole('button', { name: 'Set the password' }).click();
    await vera.page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(vera.page.url()).toBe(`${gateway.url}/console/`);
    await vera.page.getByRole('link', { name: 'Keys' }).click();
    await vera.page.getByText('No keys yet').waitFor();
    // Who other people are is nothing for members.
    expect(await vera.page.getByRole('link', { name: /^(?:People|Teams)$/ }).count()).toBe(0);
    await vera.page.keyboard.press('n');
    await vera.page.getByLabel('Name').waitFor();
    await vera.page.keyboard.type('veras');
    await vera.page.keyboard.press('Enter');
    const secret = (await vera.page.locator('#secret').textContent()) ?? '';
    const id = await ask(gateway, secret);
    await gateway.usage();
    await vera.page.goto(`${gateway.url}/console/requests`);
    await vera.page.getByRole('link', { name: `Open request ${id}` }).waitFor();
    expect(vera.complaints).toEqual([]);

    // The link worked once.
    const late = await visit(gateway.url);
    await late.page.goto(link);
    await late.page.getByLabel('Password').fill('another good password');
    await late.page.getByRole('button', { name: 'Set the password' }).click();
    await late.page.getByText('this link does not work').waitFor();

    // The administrator sees what was spent, and credits: the amount is looked at twice.
    await page.reload();
    await rowOf('Vera').getByText('active').waitFor();
    await rowOf('Vera').getByRole('link', { name: 'Vera' }).click();
    await page.getByText(/spent 0\.0+\d+; no window/).waitFor();
    await page.getByRole('button', { name: 'Credit', exact: true }).click();
    await dialog.getByLabel('Amount, USD').fill('ten');
    await dialog.getByLabel('Reason').fill('conference demo');
    await dialog.getByRole('button', { name: 'Review' }).click();
    await dialog.getByText('Enter an amount in USD such as 25').waitFor();
    await dialog.getByLabel('Amount, USD').fill('2.5');
    await dialog.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('dialog', { name: '2.50 USD to Vera?' }).waitFor();
    expect(await admin.axeProblems()).toEqual([]);
    await dialog.getByRole('button', { name: 'Credit 2.50 USD' }).click();
    await page.getByText(/^Booked\. The balance is 7\.4999\d+ USD\.$/).waitFor();
    const entries = page.getByRole('region', { name: 'Entries of the account' });
    await entries.getByText('conference demo').waitFor();
    expect(await entries.locator('tbody tr').allTextContents()).toEqual([
      expect.stringMatching(/top-up.*conference demo by admin@example\.com/),
      expect.stringMatching(/usage/),
      expect.stringMatching(/opening/),
    ]);
    await page.getByRole('button', { name: 'Without usage' }).click();
    await expect.poll(() => entries.locator('tbody tr').count()).toBe(2);
    await page.getByRole('link', { name: '1 key that can be used' }).click();
    await page.getByText('Keys of vera@example.com.').waitFor();
    await expect
      .poll(() => page.locator('tbody tr').allTextContents())
      .toEqual([expect.stringContaining('veras')]);

    // A forgotten password: a link sets another one, in any browser, and ends the sessions that there were.
    await page.goto(`${gateway.url}/console/people`);
    await act('Vera', 'Make a link to set a new password');
    await late.page.goto((await shown.locator('#invitation').textContent()) ?? '');
    await shown.getByRole('button', { name: 'I have it' }).click();
    await late.page.getByLabel('Password').fill('another good password');
    await late.page.getByRole('button', { name: 'Set the password' }).click();
    await late.page.getByRole('heading', { name: 'Home' }).waitFor();
    await vera.page.reload();
    await vera.page.getByLabel('E-mail address').fill('vera@example.com');
    await vera.page.getByLabel('Password').fill('another good password');
    await vera.page.keyboard.press('Enter');
    await vera.page.getByRole('link', { name: `Open request ${id}` }).waitFor();

    // Disabled, the person is out. What stops is said before.
    await page.reload();
    await act('Vera', 'Disable');
    await dialog.getByText('1 key stops. 2 sessions end.').waitFor();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await rowOf('Vera').getByText('disabled').waitFor();
    await vera.page.reload();
    await vera.page.getByLabel('E-mail address').waitFor();
    await act('Vera', 'Enable');
    await rowOf('Vera').getByText('active').waitFor();

    // One of the file is changed there.
    await rowOf('viewer@example.com').getByRole('button').click();
    await expect
      .poll(() => page.getByRole('menuitem').allTextContents())
      .toEqual(['Credit', 'Make a link to set a new password']);
    await page.keyboard.press('Escape');
    // The order and what is searched for stay in the address.
    await page.getByRole('button', { name: 'Balance, USD' }).click();
    await page.waitForURL('**/people?sort=-balance');
    await page.getByPlaceholder('Name or e-mail address').fill('ver');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    expect(admin.complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'an administrator makes a team, whose owner adds a member and sees what is left',
  { timeout: 120_000 },
  async () => {
    const admin = await visit(gateway.url);
    const { page } = admin;
    await admin.signInAt('/teams?make=true', 'admin@example.com');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('filed');
    await dialog.getByLabel('Owner').fill('owner@');
    await dialog.getByRole('option', { name: 'owner@example.com' }).click();
    await dialog.getByLabel('Budget of a day, USD').fill('10');
    await dialog.getByLabel('Budget in total, USD').fill('0.00001');
    await dialog.getByRole('button', { name: 'Make the team' }).click();
    await dialog.getByText("team 'filed' already exists").waitFor();
    expect(admin.complaints.splice(0)).toEqual([expect.stringContaining('409')]);
    expect(await admin.axeProblems()).toEqual([]);
    await dialog.getByLabel('Name').fill('field');
    await dialog.getByRole('button', { name: 'Make the team' }).click();
    await page.getByRole('heading', { name: 'Teams / field' }).waitFor();
    await page.getByRole('meter', { name: 'Day: 0 of 10 USD spent, 0 held' }).waitFor();
    await page.getByRole('button', { name: 'Credit' }).click();
    await dialog.getByLabel('Amount, USD').fill('30');
    await dialog.getByLabel('Reason').fill('first month');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Credit 30.00 USD' }).click();
    await page.getByText('Booked. The balance is 30.00 USD.').waitFor();
    expect(await admin.axeProblems()).toEqual([]);

    // The owner sees the own teams, adds a member, and raises no budget.
    const owner = await visit(gateway.url);
    await owner.signInAt('/teams', 'owner@example.com');
    await owner.page.getByRole('link', { name: 'field' }).click();
    await owner.page.getByRole('heading', { name: 'Teams / field' }).waitFor();
    expect(await owner.page.getByRole('button', { name: /^(?:Change|Credit)$/ }).count()).toBe(0);
    const form = owner.page.getByRole('dialog');
    await owner.page.getByRole('button', { name: 'Add a person' }).click();
    await form.getByLabel('Person').fill('nobody@example.com');
    await form.getByRole('button', { name: 'Add' }).click();
    await form.getByText('there is no such user').waitFor();
    expect(owner.complaints.splice(0)).toEqual([expect.stringContaining('404')]);
    await form.getByLabel('Person').fill('admin@example.com');
    await form.getByLabel('Own part, USD').fill('20');
    await form.getByRole('button', { name: 'Add' }).click();
    const rowOf = (name: string) => owner.page.locator('tbody tr', { hasText: name });
    await rowOf('admin@example.com').getByText('20.00').waitFor();
    expect(await owner.axeProblems()).toEqual([]);

    // A key of a member acts for the team: what it spent shows on the budget, which is used up.
    const { send } = await signInAs(gateway, 'admin');
    const made = await send('POST', '/keys', { name: 'fields', team: 'field' });
    const { key } = (await made.json()) as { readonly key: string };
    await ask(gateway, key);
    await ask(gateway, secrets.member);
    await gateway.usage();
    await owner.page.reload();
    await owner.page.getByText('The budget is used up: requests are refused').waitFor();
    await rowOf('admin@example.com').getByText('100 %').waitFor();
    expect(await owner.axeProblems()).toEqual([]);
    await page.goto(`${gateway.url}/console/teams?sort=-spent`);
    await page
      .locator('tbody tr', { hasText: 'field' })
      .getByText(/^used up/)
      .waitFor();
    expect(await admin.axeProblems()).toEqual([]);

    // A budget is edited where it stands, and an Undo takes it back.
    const daily = page.getByRole('spinbutton', { name: 'Day of field, USD' });
    await daily.fill('15');
    await daily.press('Enter');
    await page.getByText(/^field, Day: 15 USD from now on, of which/).waitFor();
    expect(await daily.inputValue()).toBe('15');
    expect(await admin.axeProblems()).toEqual([]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('field is as before.').waitFor();
    expect(await daily.inputValue()).toBe('10');
    await daily.fill('');
    await daily.press('Enter');
    await page.getByText('field, Day: no budget from now on.').waitFor();

    // What stops is said before a team is disabled; its owner does not enable it.
    await page.goto(`${gateway.url}/console/teams/field`);
    await page.getByRole('button', { name: 'Disable' }).click();
    await dialog.getByText(/^1 key stops\. 2 members make no more keys/).waitFor();
    expect(await admin.axeProblems()).toEqual([]);
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('An administrator can enable it.').waitFor();
    await owner.page.goto(`${gateway.url}/console/teams/field`);
    await owner.page.getByText('An administrator can enable it.').waitFor();
    expect(await owner.page.getByRole('button', { name: 'Enable' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    await owner.page.reload();

    await rowOf('admin@example.com')
      .getByRole('button', { name: /^Actions of/ })
      .click();
    await owner.page.getByRole('menuitem', { name: 'Remove from the team' }).click();
    await form.getByRole('button', { name: 'Remove from the team' }).click();
    await rowOf('admin@example.com').waitFor({ state: 'detached' });
    expect(owner.complaints).toEqual([]);

    // In the other language and theme, on a phone.
    await page.locator('summary').click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('heading', { name: '团队', exact: true }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    for (const [path, text] of [
      ['/teams', 'field'],
      ['/teams/field', 'owner@example.com'],
      ['/teams?make=true', '每月预算（USD）'],
      ['/people', 'owner@example.com'],
      ['/people/owner@example.com', 'field'],
      ['/people?invite=true', '初始余额（USD）'],
    ] as const) {
      await page.goto(`${gateway.url}/console${path}`);
      await page.getByText(text).first().waitFor();
      const widest = (await admin.isWider()) ? await widestOf(page) : '';
      expect([path, await admin.axeProblems(), widest]).toEqual([path, [], '']);
    }
    expect(admin.complaints).toEqual([]);
  },
);
