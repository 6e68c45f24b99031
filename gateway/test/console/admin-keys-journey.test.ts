import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';

const { gateway, opened } = await startJourney();

test.runIf(hasBrowser)(
  'an administrator makes an admin key, a program uses it until it is revoked',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    await signInAt('/settings', 'admin@example.com');
    await page.getByRole('tab', { name: 'Admin keys' }).click();
    await page.getByText('No program has an admin key.').waitFor();
    expect(await axeProblems()).toEqual([]);

    await page.keyboard.press('n');
    const form = page.getByRole('dialog', { name: 'New admin key' });
    await form.getByLabel('Name').fill('nightly');
    await form.getByLabel('Role').selectOption('viewer');
    await form.getByLabel('Addresses').fill('here');
    expect(await axeProblems()).toEqual([]);
    await page.keyboard.press('Enter');
    await form.getByText(/expected an address or a range/).waitFor();
    // The browser itself reports the refusal.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    await form.getByLabel('Addresses').fill('127.0.0.1, ::1');
    await page.keyboard.press('Enter');
    const ready = page.getByRole('dialog', { name: 'Admin key nightly is ready' });
    const secret = (await ready.locator('#admin-key').textContent()) ?? '';
    expect(secret).toMatch(/^sa-\w{52}$/);
    await ready.getByRole('button', { name: 'Copy the secret' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await ready.getByRole('button', { name: 'I have it' }).click();
    await ready.waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);

    const headers = { authorization: `Bearer ${secret}` };
    const use = () => fetch(`${gateway.url}/admin/v1/health`, { headers });
    expect((await use()).status).toBe(200);

    const row = page.getByRole('row', { name: /nightly/ });
    await row.getByText('admin@example.com').waitFor();
    await row.getByText('127.0.0.1, ::1').waitFor();
    // The use is noted beside the response.
    await expect
      .poll(async () => {
        await page.reload();
        return row.getByText('not used yet').count();
      })
      .toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await isWider()).toBe(false);

    await row.getByRole('button', { name: 'Revoke nightly' }).click();
    const question = page.getByRole('dialog', { name: 'Revoke nightly' });
    expect(await axeProblems()).toEqual([]);
    await question.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText(/^revoked /).waitFor();
    expect(await row.getByRole('button').count()).toBe(0);
    expect((await use()).status).toBe(401);
    expect(complaints).toEqual([]);
  },
);
