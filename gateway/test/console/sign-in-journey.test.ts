import { afterAll, expect, test } from 'vitest';
import { totpCode, totpStep } from '#identity/totp.ts';
import { freePort } from '../support/free-port.ts';
import { hasBrowser, startJourney, type Visit } from './browser.ts';
import { clientId, clientSecret, startIdentityProvider } from './identity-provider.ts';
import { password } from './people.ts';

// The provider has to know the gateway's address, and the gateway that of the provider.
const port = await freePort();
const publicUrl = `http://127.0.0.1:${port}`;
// Another site than the gateway's, so that cookies are sent as they would be on the web.
const provider = await startIdentityProvider(
  [`${publicUrl}/admin/v1/auth/oidc/callback`],
  false,
  'localhost',
);
afterAll(() => provider.close());
const { gateway, opened } = await startJourney({
  port,
  publicUrl,
  config: `
oidc: { issuer: '${provider.issuer}', client_id: ${clientId}, client_secret: ${clientSecret}, name: Acme, domains: [example.com] }
users:
  - { email: admin@example.com, role: admin }
keys: []
`,
});

/** The provider's own pages, as somebody with this name goes through them. */
async function passPages({ page }: Visit, subject: string): Promise<void> {
  await page.locator('input[name="login"]').fill(subject);
  await page.locator('input[name="password"]').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** Presses a button that changes how the person signs in, which asks for the password. */
async function prove({ page }: Visit, word: string): Promise<void> {
  const form = page.locator('form', { has: page.getByRole('button', { name: word }) });
  await form.getByLabel('Present password').fill(password);
  await page.keyboard.press('Enter');
}

test.runIf(hasBrowser)(
  'a person sets up a second factor, signs in with it, with a recovery code, and ends it',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    await signInAt('/settings', 'admin@example.com');
    await prove(opened, 'Set up');
    await page.getByRole('img', { name: 'QR code for an authenticator app' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    const secret = (await page.locator('form code').innerText()).replaceAll(' ', '');
    const code = (ahead: number) => totpCode(secret, totpStep(Date.now()) + ahead);
    await page.getByRole('textbox', { name: 'Code' }).fill('000000');
    await page.keyboard.press('Enter');
    await page.getByText('this code is wrong').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    await page.getByRole('textbox', { name: 'Code' }).fill(code(-1));
    await page.keyboard.press('Enter');
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await expect.poll(() => codes.count()).toBe(10);
    const [recovery = ''] = await codes.allInnerTexts();
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await isWider()).toBe(false);
    }
    expect(await axeProblems()).toEqual([]);
    await page.getByRole('button', { name: 'They are kept' }).click();
    await page.getByText('10 recovery codes are left.').waitFor();

    const signOut = async () => {
      await page.context().clearCookies();
      await page.goto(`${gateway.url}/console/sign-in?to=/settings`);
      await page.getByLabel('E-mail address').fill('admin@example.com');
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
    };
    await signOut();
    await page.getByRole('textbox', { name: 'Code' }).fill(code(0));
    await page.keyboard.press('Enter');
    await page.getByText('10 recovery codes are left.').waitFor();

    await signOut();
    await page.getByRole('textbox', { name: 'Code' }).fill(recovery);
    await page.keyboard.press('Enter');
    await page.getByText('9 recovery codes are left.').waitFor();

    // A session that ends while a page is open asks for both again.
    await gateway.app.database.kysely.deleteFrom('sessions').execute();
    const dialog = page.getByRole('dialog');
    await page.getByRole('link', { name: 'Keys' }).click();
    await dialog.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    await dialog.getByRole('textbox', { name: 'Code' }).fill(code(1));
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });

    await page.goto(`${gateway.url}/console/settings`);
    await prove(opened, 'Turn off');
    await page.getByRole('button', { name: 'Set up' }).waitFor();
    // The browser itself reports what was refused: codes that were still needed, and the session.
    expect(complaints.splice(0).filter((text) => !text.includes('401'))).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'people sign in at the provider, an administrator after connecting the account',
  { timeout: 120_000 },
  async () => {
    const { page, axeProblems, complaints } = opened;
    // What the provider's pages want besides.
    const foreign = /^https:\/\/fonts\.googleapis\.com\/|\/favicon\.ico$/;
    await page.route(foreign, (route) => route.fulfill({ contentType: 'text/css', body: '' }));
    provider.people.set('grace', {
      email: 'grace@example.com',
      email_verified: true,
      name: 'Grace Hopper',
    });
    provider.people.set('boss', { email: 'admin@example.com', email_verified: true });
    await page.context().clearCookies();
    await page.goto(`${gateway.url}/console/sign-in?to=/settings`);
    await page.getByRole('link', { name: 'Sign in with Acme' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.getByRole('link', { name: 'Sign in with Acme' }).click();
    await passPages(opened, 'grace');
    await page.getByText('Connected: you sign in with Acme.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/settings');
    await page.getByTitle('Account').getByText('Grace Hopper').waitFor();
    await page.getByText('You have no password.').waitFor();
    // It is a session as any other.
    await page.reload();
    await page.getByText('Connected: you sign in with Acme.').waitFor();

    // Somebody with more rights is not let in by the address alone.
    await page.context().clearCookies();
    await page.goto(`${gateway.url}/console/sign-in`);
    await page.getByRole('link', { name: 'Sign in with Acme' }).click();
    await passPages(opened, 'boss');
    const note = page.getByRole('alert').filter({ hasText: 'connect it in Settings' });
    await note.waitFor();
    expect(await note.innerText()).toMatch(/Request [\w-]+/);
    expect(await axeProblems()).toEqual([]);

    await page.context().clearCookies({ name: 'sluice_session' });
    await opened.signInAt('/settings', 'admin@example.com');
    await prove(opened, 'Connect Acme');
    // The provider knows the person already.
    await page.getByText('Connected: you sign in with Acme.').waitFor();
    await page.getByRole('tab', { name: 'Sign-in' }).click();
    await page.getByText(provider.issuer, { exact: true }).waitFor();
    // Those with a password, and those who sign in at the provider.
    await expect.poll(() => page.getByText('2 of 3 people').count()).toBe(2);
    expect(await axeProblems()).toEqual([]);

    // Disconnected: the way at the provider is shut, and the password opens the account.
    await page.getByRole('tab', { name: 'Account' }).click();
    await prove(opened, 'Disconnect Acme');
    await page.getByText('Not connected yet.').waitFor();
    await page.context().clearCookies({ name: 'sluice_session' });
    await page.goto(`${gateway.url}/console/sign-in`);
    await page.getByRole('link', { name: 'Sign in with Acme' }).click();
    await note.waitFor();
    const others = complaints
      .splice(0)
      .filter((text) => !text.startsWith(provider.issuer) && !foreign.test(text))
      .filter((text) => !text.includes('401'));
    expect(others).toEqual([]);
  },
);
