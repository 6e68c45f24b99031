import { expect, test } from 'vitest';
import { hasBrowser, startJourney, visit } from './browser.ts';
import { password, signInAs } from './people.ts';

const { gateway, opened } = await startJourney();

test.runIf(hasBrowser)(
  'a person signs out elsewhere, chooses the look, and changes the password',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    const elsewhere = await signInAs(gateway, 'member');
    await signInAt('/settings', 'member@example.com');
    const rows = page.locator('tbody tr');
    await rows.filter({ hasText: 'this one' }).waitFor();
    await rows.filter({ hasText: 'Chrome, Linux' }).waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    expect(await axeProblems()).toEqual([]);
    await rows.getByRole('button', { name: 'Sign out' }).click();
    await rows.nth(1).waitFor({ state: 'detached' });
    expect((await elsewhere.get('/session')).status).toBe(401);

    // The file declares the person, until it does not.
    await page.getByText('The configuration file declares this account').waitFor();
    expect(await page.getByLabel('Name').count()).toBe(0);
    const { kysely } = gateway.app.database;
    await kysely.updateTable('users').set({ owner: 'console' }).execute();
    await page.reload();
    await page.getByLabel('Name').fill('Ada Lovelace');
    await page.keyboard.press('Enter');
    await page.getByTitle('Account').getByText('Ada Lovelace').waitFor();
    expect(await axeProblems()).toEqual([]);

    await page.getByLabel('Present password').first().fill(password);
    await page.getByLabel('New password').fill('too short');
    await page.keyboard.press('Enter');
    await page.getByText('expected at least 12 characters').waitFor();
    // The browser itself reports the refusal.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    await page.getByLabel('New password').fill(`${password}, and longer`);
    await page.keyboard.press('Enter');
    await page.getByText('The password was changed.').waitFor();

    // The session continues: what is written next is accepted, and holds in another browser too.
    const content = page.getByRole('main');
    await content.getByLabel('Theme').selectOption('dark');
    await content.getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('heading', { name: '设置' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await isWider()).toBe(false);
    const other = await visit(gateway.url);
    await other.signInAt('/settings', 'member@example.com', `${password}, and longer`);
    await other.page.getByRole('heading', { name: '设置' }).waitFor();
    expect(await other.page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(other.complaints).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'a session that is over is renewed in place, and an unreachable gateway is waited for',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems } = await visit(gateway.url);
    await signInAt('/keys', 'admin@example.com');
    await page.locator('tbody tr').first().waitFor();
    await page.keyboard.press('n');
    await page.getByLabel('Name').fill('half done');
    await gateway.app.database.kysely.deleteFrom('sessions').execute();
    await page.keyboard.press('Enter');
    const again = page.getByRole('dialog', { name: 'Your session is over' });
    await again.getByText('Sign in again as admin@example.com').waitFor();
    expect(await axeProblems()).toEqual([]);
    await again.getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await again.getByText('the e-mail address or the password is wrong').waitFor();
    await again.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await again.waitFor({ state: 'detached' });
    // What was typed is still there, and is accepted now.
    expect(await page.getByLabel('Name').inputValue()).toBe('half done');
    await page.getByLabel('Name').press('Enter');
    await page.getByRole('dialog', { name: 'Key half done is ready' }).waitFor();
    await page.keyboard.press('Escape');
    // The browser itself reports the refusals.
    for (const complaint of complaints.splice(0)) expect(complaint).toContain('401');

    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Requests' }).click();
    await page.getByText(/The gateway has not answered since/).waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.getByText(/The gateway has not answered since/).waitFor({ state: 'detached' });
    for (const complaint of complaints.splice(0)) expect(complaint).toContain('ERR_INTERNET');
  },
);

test.runIf(hasBrowser)(
  'a database that does not respond is named at once, and every page comes back by itself',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems } = await visit(gateway.url);
    const away = { code: 'database_away', message: 'the database does not respond, try again' };
    const refuse = () =>
      page.route('**/admin/v1/**', (route) =>
        route.fulfill({ status: 503, json: { error: away } }),
      );
    const banner = page.getByText(/The database has not answered since/);
    const failed = page.getByRole('main').getByText(away.message);
    await signInAt('/keys', 'admin@example.com');
    const rows = page.locator('tbody tr');
    await rows.first().waitFor();

    await refuse();
    await page.getByRole('link', { name: 'Requests' }).click();
    await banner.waitFor();
    await failed.waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.unrouteAll();
    await banner.waitFor({ state: 'detached' });
    await failed.waitFor({ state: 'detached' });

    // Opened anew, there is no page yet that could say it.
    await refuse();
    await page.reload();
    await failed.waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.unrouteAll();
    await page.getByRole('heading', { name: 'Requests' }).first().waitFor();
    expect(await banner.count()).toBe(0);

    // One call that takes too long says nothing of all the others.
    await page.route(/\/admin\/v1\/keys/, (route) =>
      route.fulfill({ status: 503, json: { error: away } }),
    );
    const looked = page.waitForResponse('**/admin/v1/session');
    await page.getByRole('link', { name: 'Keys' }).click();
    expect((await looked).status()).toBe(200);
    await failed.waitFor();
    expect(await banner.count()).toBe(0);
    // The browser and the page's own boundary report what was refused.
    for (const complaint of complaints.splice(0)) expect(complaint).toMatch(/503|ApiFailure/);
  },
);
