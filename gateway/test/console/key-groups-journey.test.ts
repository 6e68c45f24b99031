import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { secrets } from './people.ts';

const config = `
groups: [{ name: lab }, { name: dear }]
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, models: [demo-chat], groups: [default, dear, lab] }
users:
  - { email: admin@example.com, role: admin }
  - { email: member@example.com, groups: [lab, default] }
  - { email: viewer@example.com, role: viewer }
teams:
  - { name: red, groups: [dear], members: [{ user: member@example.com }] }
keys:
  - { name: admins, user: admin@example.com, secret: ${secrets.admin} }
`;

const { gateway, opened } = await startJourney({ config });

test.runIf(hasBrowser)(
  'a person chooses the group of a key among those of whoever pays, and another one later',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems } = opened;
    const groupOf = async (name: string) => {
      const keys = await gateway.app.database.kysely.selectFrom('keys').selectAll().execute();
      return keys.find((key) => key.name === name)?.group_name;
    };
    await signInAt('/keys', 'member@example.com');
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    const group = dialog.getByLabel('Group');
    await expect.poll(() => group.locator('option').allTextContents()).toEqual(['lab', 'default']);
    expect(await group.inputValue()).toBe('default');
    // A team with one group leaves nothing to choose.
    await dialog.getByLabel('Team').selectOption('red');
    await group.waitFor({ state: 'detached' });
    await dialog.getByLabel('Team').selectOption('');
    await group.selectOption('lab');
    await dialog.getByLabel('Name').fill('bench');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'I have it' }).click();
    expect(await groupOf('bench')).toBe('lab');

    await page.getByRole('button', { name: 'Actions of bench' }).click();
    await page.getByRole('menuitem', { name: 'Change' }).click();
    expect(await group.inputValue()).toBe('lab');
    expect(await axeProblems()).toEqual([]);
    await group.selectOption('default');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await groupOf('bench')).toBe('default');
    expect(complaints).toEqual([]);
  },
);
