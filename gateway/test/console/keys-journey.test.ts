import { expect, test } from 'vitest';
import { hasBrowser, startJourney, visit } from './browser.ts';
import { ask, signInAs } from './people.ts';

const { gateway, opened } = await startJourney();

/** As the browser's calendar has it. */
function dayIn(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toLocaleDateString('sv-SE');
}

test.runIf(hasBrowser)(
  'a person makes a key, uses it, replaces its secret, and ends it',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    await signInAt('/keys', 'member@example.com');
    const rowOf = (name: string) => page.locator('tbody tr', { hasText: name });
    await rowOf('members').waitFor();
    const act = async (name: string, action: string) => {
      await rowOf(name)
        .getByRole('button', { name: `Actions of ${name}` })
        .click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    // Declared with its secret: revoking is all that can be done here.
    await rowOf('members').getByRole('button', { name: 'Actions of members' }).click();
    const actions = page.getByRole('menuitem');
    await expect
      .poll(() => actions.allTextContents())
      .toEqual(['Copy as curl', 'Its entry in the file', 'Revoke']);
    expect(await axeProblems()).toEqual([]);

    // Its settings are changed in the file: where that is, and the entry to copy.
    await actions.nth(1).click();
    const entry = page.getByRole('dialog', { name: 'Key members in the file' });
    await entry.getByText(/Change it in .*\.yaml, line \d+ \(keys\[1\]\)/).waitFor();
    const yaml = entry.getByRole('region');
    await yaml.waitFor();
    expect(await yaml.textContent()).toContain('- name: members\n  user: member@example.com');
    expect(await axeProblems()).toEqual([]);
    await page.keyboard.press('Escape');
    await entry.waitFor({ state: 'detached' });

    // By keyboard alone. What is wrong is said at its field, and what was typed stays.
    const before = dayIn(180);
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').waitFor();
    await page.keyboard.type('laptop');
    // What it is for fills in the limits; the rest is folded.
    const field = (label: string) => dialog.getByLabel(label, { exact: true });
    expect(await field('Quota, USD').inputValue()).toBe('60');
    await field('CI').check();
    expect(await field('Quota, USD').inputValue()).toBe('20');
    expect(await field('Requests a minute').isVisible()).toBe(false);
    await dialog.locator('summary').click();
    expect(await field('Requests a minute').inputValue()).toBe('30');
    const day = await field('Ends on').inputValue();
    expect([before, dayIn(180)]).toContain(day);
    // A name is chosen among those that are known. Esc closes their list, not the dialog.
    await field('Models').fill('demo-cha');
    await dialog.getByRole('option', { name: 'demo-chat', exact: true }).click();
    await field('Models').fill('demo');
    await dialog.getByRole('option').first().waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByRole('option').first().waitFor({ state: 'detached' });
    await field('Models').fill('');
    // Esc is for the dialog once no list can open any more.
    await field('Name').focus();
    await dialog.getByRole('option').first().waitFor({ state: 'detached' });
    // A half-typed key is there again, however soon: before the browser has reported that the dialog is closed.
    await page.evaluate(`void (window.again = new Promise((resolve) => {
      const dialog = document.querySelector('dialog');
      new MutationObserver((_, observer) => {
        if (!dialog.open) return document.dispatchEvent(new KeyboardEvent('keydown', { key: 'n' }));
        observer.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(resolve));
      }).observe(dialog, { attributeFilter: ['open'] });
    }))`);
    await page.keyboard.press('Escape');
    await page.evaluate('window.again');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('laptop');
    await field('Customer').check();
    expect(await field('Requests at once').inputValue()).toBe('10');
    expect(await field('Ends on').inputValue()).toBe('');
    expect(await axeProblems()).toEqual([]);
    await field('Something else').check();
    expect(await field('Quota, USD').inputValue()).toBe('');
    expect(await field('Requests a minute').inputValue()).toBe('');
    await dialog.getByText('demo-chat', { exact: true }).waitFor();
    await field('Quota, USD').fill('much');
    await dialog.locator('summary').click();
    await field('Requests at once').waitFor({ state: 'hidden' });
    await field('Quota, USD').press('Enter');
    await dialog.getByText('expected an amount in USD').waitFor();
    // The browser itself reports the refusal.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    expect(await axeProblems()).toEqual([]);
    expect(await dialog.getByLabel('Name').inputValue()).toBe('laptop');
    expect(await dialog.getByLabel('Belongs to').count()).toBe(0);
    await field('Quota, USD').fill('5');
    // What is right now is not called wrong.
    await dialog.getByText('expected an amount in USD').waitFor({ state: 'detached' });
    await dialog.locator('summary').click();
    await field('Requests a minute').fill('60');
    await page.keyboard.press('Enter');

    const ready = page.getByRole('dialog', { name: 'Key laptop is ready' });
    await ready.waitFor();
    const secret = (await ready.locator('#secret').textContent()) ?? '';
    expect(secret).toMatch(/^sk-/);
    // A real request from here: what was said, how fast, what it cost, and its row.
    await ready.getByRole('button', { name: 'Test' }).click();
    await ready.getByText(/^It works.*demo-chat says: This is the Sluice/).waitFor();
    await ready.getByText(/^First token \d[\d.]* m?s$/).waitFor();
    const receipt = ready.getByRole('link', { name: 'Its receipt' });
    await receipt.waitFor();
    const [row] = await gateway.usage();
    expect(await receipt.getAttribute('href')).toBe(`/console/requests/${row?.id}`);
    await expect.poll(() => ready.getByText(/^0\.0\d+ USD$/).count()).toBe(1);
    expect(await axeProblems()).toEqual([]);
    // What is wrong is said in words.
    await page.route('**/v1/chat/completions', (route) => route.abort());
    await ready.getByRole('button', { name: 'Test' }).click();
    await ready.getByText(/^It does not work.*could not be reached/).waitFor();
    await page.unroute('**/v1/chat/completions');
    // The browser itself reports it.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')]);
    expect(await axeProblems()).toEqual([]);
    // Each client's steps name this gateway and the key, and say with what they were tried.
    for (const name of await ready.getByRole('tab').allTextContents()) {
      await ready.getByRole('tab', { name, exact: true }).click();
      const steps = (await ready.getByRole('region').allTextContents()).join('\n');
      expect(steps, name).toContain(gateway.url);
      expect(steps, name).toContain(secret);
      if (name !== 'Open WebUI') expect(steps, name).toContain('demo-chat');
      await ready.getByText(/ried with/).waitFor();
    }
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    // Every tab is seen, whatever the width.
    const tabs = ready.getByRole('tablist');
    expect(await tabs.evaluate((list) => list.scrollWidth > list.clientWidth)).toBe(false);
    expect(await ready.evaluate((each) => each.scrollWidth > each.clientWidth)).toBe(false);
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press('Escape');
    // A closed dialog loses its role before the page has taken it away.
    await page.locator('#secret').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);

    // A request with it is found through its row.
    const id = await ask(gateway, secret);
    await gateway.usage();
    await page.reload();
    // By which client it was last used.
    await rowOf('laptop').getByText('other', { exact: true }).waitFor();
    await rowOf('laptop').getByRole('link', { name: 'laptop' }).click();
    await page.getByRole('link', { name: `Open request ${id}` }).waitFor();
    await page.goBack();

    // Somebody else is faster.
    const admin = await signInAs(gateway, 'admin');
    await act('laptop', 'Change');
    expect(await dialog.getByLabel('Quota, USD').inputValue()).toBe('5');
    expect(await axeProblems()).toEqual([]);
    const { data } = (await (await admin.get('/keys')).json()) as {
      readonly data: readonly { readonly id: string; readonly name: string; revision: number }[];
    };
    const made = data.find(({ name }) => name === 'laptop')!;
    const faster = await admin.send(
      'PATCH',
      `/keys/${made.id}`,
      { rpm: 30 },
      { 'if-match': `"${made.revision}"` },
    );
    expect(faster.status).toBe(200);
    await dialog.getByLabel('Quota, USD').fill('4');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Save both changes' }).click();
    await rowOf('laptop').getByText('4 USD, 30 a minute').waitFor();
    await act('laptop', 'Change');
    // The administrator's limit.
    await dialog.getByLabel('Requests a minute').fill('40');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('you may only tighten it').waitFor();
    await page.keyboard.press('Escape');
    // The browser itself reports both refusals.
    expect(complaints.splice(0)).toEqual([
      expect.stringContaining('412'),
      expect.stringContaining('403'),
    ]);

    await act('laptop', 'Rotate');
    await dialog.getByLabel('The old secret works').selectOption('0s');
    expect(await axeProblems()).toEqual([]);
    await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
    await ready.waitFor();
    const next = (await ready.locator('#secret').textContent()) ?? '';
    expect(next).not.toBe(secret);
    await ready.getByRole('button', { name: 'I have it' }).click();

    // How much of its quota is spent, and keys in another order, which the address keeps.
    const bar = rowOf('laptop').getByRole('meter');
    expect(await bar.getAttribute('aria-label')).toMatch(/^[\d.]+ % of 4 USD$/);
    const names = () => page.locator('tbody td[data-column="key"] a').allTextContents();
    const byName = page.getByRole('button', { name: 'Key', exact: true });
    await byName.click();
    await page.waitForURL('**/keys?sort=key');
    expect(await names()).toEqual(['laptop', 'members']);
    await byName.click();
    await page.waitForURL('**/keys?sort=-key');
    await page.reload();
    await rowOf('laptop').waitFor();
    expect(await names()).toEqual(['members', 'laptop']);
    expect(await axeProblems()).toEqual([]);
    await byName.click();
    await page.waitForURL('**/keys');

    await act('laptop', 'Revoke');
    await dialog.getByText('It cannot be undone').waitFor();
    expect(await axeProblems()).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    // The focus returns to where it was, and the keyboard moves it from there.
    const focused = () =>
      page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');
    expect(await focused()).toBe('Actions of laptop');
    await page.keyboard.press('j');
    expect(await focused()).toBe('members');
    await page.keyboard.press('k');
    expect(await focused()).toBe('laptop');
    await act('laptop', 'Revoke');
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await rowOf('laptop')
      .getByText(/^revoked/)
      .waitFor();
    await expect.poll(() => rowOf('laptop').getByRole('button').count()).toBe(0);
    const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage])');
    expect(stored).not.toMatch(/sk-/);

    // In the other language and theme, on a phone.
    await page.locator('summary').click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('heading', { name: '密钥' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    // What can be done with a key is in sight at every width.
    const last = rowOf('members').getByRole('button', { name: 'members 的操作' });
    for (const width of [360, 800, 1024]) {
      await page.setViewportSize({ width, height: 800 });
      const box = await last.boundingBox();
      expect([width, box !== null && box.x + box.width <= width]).toEqual([width, true]);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await page.getByRole('button', { name: '新建密钥' }).click();
    await dialog.waitFor();
    expect(await isWider()).toBe(false);
    expect(await axeProblems()).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'an order is one of all keys, not of the first page',
  { timeout: 120_000 },
  async () => {
    const admin = await signInAs(gateway, 'admin');
    for (let n = 100; n < 155; n += 1) {
      expect((await admin.send('POST', '/keys', { name: `key ${n}` })).status).toBe(201);
    }
    const { page, signInAt, complaints } = await visit(gateway.url);
    await signInAt('/keys?sort=-key', 'admin@example.com');
    const names = page.locator('tbody td[data-column="key"] a');
    await names.getByText('admins', { exact: true }).waitFor();
    await expect.poll(() => names.count()).toBeGreaterThan(55);
    const shown = await names.allTextContents();
    expect(shown).toEqual(shown.toSorted().toReversed());
    expect(complaints).toEqual([]);
  },
);
