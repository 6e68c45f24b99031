import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { ask, secrets, signInAs } from './people.ts';

/* Channels at the console: what they do, when they are asked, and how they are added, tried and changed. */

const { gateway, opened } = await startJourney({}, async (started) => {
  await ask(started, secrets.admin);
  await started.usage();
});

const spare = {
  name: 'spare',
  provider: 'openai-compatible',
  models: ['demo-chat', 'demo-image'],
  api_keys: ['sk-upstream-0123456789abcdef'],
  priority: -1,
};

test.runIf(hasBrowser)(
  'priority and weight are changed in their cells, and a channel is disabled with a view of what stops',
  { timeout: 120_000 },
  async () => {
    const base_url = `${gateway.simulator.url}/v1`;
    const admin = await signInAs(gateway, 'admin');
    expect((await admin.send('POST', '/channels', { ...spare, base_url })).status).toBe(201);
    const { page, signInAt, complaints, axeProblems } = opened;
    await signInAt('/channels', 'admin@example.com');
    const row = (name: string) => page.locator('tbody tr', { hasText: name });
    // Of the file: with its place, and nothing to change here.
    await row('sim').getByText('file').waitFor();
    expect(await row('sim').getByRole('spinbutton').count()).toBe(0);
    expect(await row('sim').innerText()).toMatch(/answers[^]*1[^]*100 %/);
    const words = await page
      .getByTitle(/Change it in .*\.yaml, line \d+ \(channels\[0\]\)/)
      .count();
    expect(words).toBe(1);
    await row('spare').getByText('sk-…cdef').waitFor();
    expect(await axeProblems()).toEqual([]);

    // Enter saves, and says what follows; Undo takes it back. Esc keeps the old value.
    const priority = page.getByLabel('Priority of spare');
    await priority.fill('5');
    await priority.press('Escape');
    expect(await priority.inputValue()).toBe('-1');
    await priority.fill('0');
    await priority.press('Enter');
    const toast = page.getByRole('status').filter({ hasText: 'spare' });
    await toast.getByText('spare now has priority 0. It gets about 50 %').waitFor();
    const weight = page.getByLabel('Weight of spare');
    await weight.fill('3');
    await weight.press('Enter');
    await toast.getByText('It gets about 75 % of what it shares with sim.').waitFor();
    expect(await axeProblems()).toEqual([]);
    await toast.getByRole('button', { name: 'Undo' }).click();
    await toast.getByText('spare is as before.').waitFor();
    await expect.poll(() => weight.inputValue()).toBe('1');

    // Somebody else was first: nothing is overwritten.
    const { revision } = (await (await admin.get('/channels/spare')).json()) as {
      revision: number;
    };
    const theirs = { 'if-match': `"${revision}"` };
    const changed = await admin.send('PATCH', '/channels/spare', { weight: 7 }, theirs);
    expect(changed.status).toBe(200);
    await weight.fill('2');
    await weight.press('Enter');
    await page.getByText('Somebody has changed spare meanwhile').waitFor();
    await expect.poll(() => weight.inputValue()).toBe('7');
    // The browser itself reports the refusal.
    expect(complaints.splice(0)).toEqual([expect.stringContaining('412')]);

    // What a disable stops is known before.
    const act = async (action: string) => {
      await row('spare').getByRole('button', { name: 'Actions of spare' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await act('Disable');
    const dialog = page.getByRole('dialog', { name: 'Disable spare' });
    await dialog.getByText('One model has no other channel.').waitFor();
    await dialog.getByText('demo-image').waitFor();
    expect(await axeProblems()).toEqual([]);
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await row('spare').getByText('disabled').waitFor();
    await expect.poll(() => gateway.app.catalogue.snapshot().channels).toHaveLength(1);
    await page.getByRole('button', { name: 'Disabled 1' }).click();
    expect(await row('sim').count()).toBe(0);
    await act('Enable');
    await toast.getByText('spare is asked again.').waitFor();
    await page.getByText('No channel of 2 matches.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByLabel('Search channels').fill('image');
    await row('sim').waitFor({ state: 'detached' });
    expect(await row('spare').count()).toBe(1);
    expect(complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'an administrator adds a channel with a key that is refused, sees why, corrects it, and the channel serves',
  { timeout: 120_000 },
  async () => {
    const { page, complaints, axeProblems } = opened;
    await page.goto(`${gateway.url}/console/channels`);
    await page.getByRole('link', { name: 'Add a channel' }).click();
    await page.getByRole('heading', { name: 'New channel' }).waitFor();
    const field = (label: string) => page.getByLabel(label, { exact: true });
    // The vendor is seen by the form of the key; another one can be chosen.
    await field('API key').fill('sk-ant-0123456789abcdef');
    expect(await field('Vendor').inputValue()).toBe('anthropic');
    expect(await field('Base address').inputValue()).toBe('https://api.anthropic.com/v1');
    expect(await field('Name').inputValue()).toBe('anthropic');
    await field('Vendor').selectOption('openai-compatible');
    expect(await field('Name').inputValue()).toBe('openai-compatible');
    await page.getByRole('button', { name: 'Save and use' }).click();
    await page.getByText('Choose at least one.').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    await field('API key').fill('invalid-0123456789abcdef');
    await page.getByText('New: inv…cdef').waitFor();
    await field('Base address').fill(`${gateway.simulator.url}/v1`);
    // What was typed waits in the tab, over other pages and a reload, but for the key.
    await page.getByRole('link', { name: 'Health' }).click();
    await page.getByRole('heading', { name: 'Health' }).waitFor();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('0123456789abcdef');
    await page.goto(`${gateway.url}/console/channels/new`);
    await page.getByText('Keys and other secrets are not kept: paste them again.').waitFor();
    expect(await field('Base address').inputValue()).toBe(`${gateway.simulator.url}/v1`);
    expect(await field('API key').inputValue()).toBe('');
    expect(await axeProblems()).toEqual([]);
    await page.getByRole('button', { name: 'Start anew' }).click();
    expect(await field('Base address').inputValue()).toBe('');
    await field('Vendor').selectOption('openai-compatible');
    await field('API key').fill('invalid-0123456789abcdef');
    await field('Base address').fill(`${gateway.simulator.url}/v1`);
    await field('Model to ask').fill('demo-reasoning');
    await page.getByRole('button', { name: 'Test', exact: true }).click();

    // The step that failed, with the upstream's words, and what repairs it.
    await page.getByText('The upstream refuses this key.').waitFor();
    const status = page.getByRole('listitem').filter({ hasText: /^Status/ });
    expect(await status.innerText()).toMatch(/401[^]*API key/);
    expect(
      await page
        .getByRole('listitem')
        .filter({ hasText: /^First token/ })
        .innerText(),
    ).toContain('not reached');
    await page.getByText('The request that was sent').click();
    const sent = page.getByRole('region', { name: 'The request that was sent' });
    expect(await sent.innerText()).toMatch(/\/v1\/chat\/completions[^]*authorization: Bearer …/);
    expect(await axeProblems()).toEqual([]);
    await page.getByRole('button', { name: 'Give another key' }).click();
    expect(await field('API key').inputValue()).toBe('');
    await page.keyboard.type('sk-good-0123456789abcdef');
    await page.getByRole('button', { name: 'Test again' }).click();
    await page.getByText('The channel works.').waitFor();

    // The models that the upstream has are ticked; one that nobody knows gets a price.
    await page.route('**/admin/v1/channels/models', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { models: object[] };
      const none = { served_as: [], others: 0, model: null, priced: false, input: null };
      const added = { ...none, name: 'brand-new', output: null };
      await route.fulfill({ json: { ...body, models: [...body.models, added] } });
    });
    await page.getByRole('button', { name: 'Find the models' }).click();
    await field('demo-reasoning').check();
    expect(await field('Name for clients, model 1').inputValue()).toBe('demo-reasoning');
    expect(await field('brand-new').isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Give a price to brand-new' }).click();
    const adding = page.getByRole('dialog', { name: 'Add a model' });
    expect(await adding.getByLabel('Name', { exact: true }).inputValue()).toBe('brand-new');
    await adding.getByLabel('Type').selectOption('Image');
    await adding.getByRole('button', { name: 'Add: Pictures by size' }).waitFor();
    await adding.getByLabel('Type').selectOption('Chat');
    await field('Input').fill('1.5');
    await field('Output').fill('6');
    expect(await axeProblems()).toEqual([]);
    await adding.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => field('brand-new').isChecked()).toBe(true);
    expect(await field('Name for clients, model 2').inputValue()).toBe('brand-new');
    await page.unroute('**/admin/v1/channels/models');

    // Everything that is wrong is said at its field, at once, and what was typed stays.
    await field('Name for clients, model 1').fill('demo-reasonin');
    await field('Name').fill('');
    await page.getByRole('button', { name: 'Save and use' }).click();
    await page.getByText('Nothing was saved: 2 fields are wrong.').waitFor();
    await page.getByText(/did you mean "demo-reasoning"/).waitFor();
    await page.getByText('Enter a channel name.').waitFor();
    expect(await field('Name').getAttribute('aria-invalid')).toBe('true');
    expect(await field('API key').inputValue()).toBe('sk-good-0123456789abcdef');
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);
    expect(await axeProblems()).toEqual([]);
    await field('Name for clients, model 1').fill('demo-reasoning');
    await field('Name').fill('own');
    await page.getByRole('button', { name: 'Save and use' }).click();
    await page.getByRole('heading', { name: 'own' }).waitFor();
    await page.getByText('sk-…cdef').waitFor();
    expect(await field('API key').inputValue()).toBe('');
    expect(await page.evaluate('Object.keys(sessionStorage).join()')).not.toContain('draft');

    // Keys that look alike are told apart by their numbers.
    await field('API key').fill('sk-alike-0123456789abcdef');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: 'Remove 1: sk-…cdef' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const own = () => gateway.app.catalogue.snapshot().channels.find(({ name }) => name === 'own');
    await expect.poll(() => own()?.credentials).toEqual(['sk-alike-0123456789abcdef']);

    await expect
      .poll(() => gateway.app.catalogue.snapshot().channels.map(({ name }) => name))
      .toContain('own');
    for (const model of ['demo-reasoning', 'brand-new']) {
      const id = await ask(gateway, secrets.admin, model);
      const rows = await gateway.usage();
      expect(rows.find((row) => row.id === id)).toMatchObject({
        channel: 'own',
        model,
        outcome: 'completed',
      });
    }
    expect(complaints).toEqual([]);
  },
);

test.runIf(hasBrowser)(
  'of two people, the second sees both versions, and each keeps what the other has not touched',
  { timeout: 120_000 },
  async () => {
    const { page, complaints, axeProblems, isWider } = opened;
    const admin = await signInAs(gateway, 'admin');
    const read = async () =>
      (await (await admin.get('/channels/own')).json()) as Readonly<Record<string, unknown>>;
    const { revision } = await read();
    const field = (label: string) => page.getByLabel(label, { exact: true });
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await page.goto(`${gateway.url}/console/channels/own`);
    await field('Priority').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await field('Priority').fill('4');
    await field('Weight').fill('2');
    await field('Name at the upstream, model 1').fill('demo-reasoning-2');
    const theirs = { weight: 9, timeouts: { first_byte: '20s' } };
    const headers = { 'if-match': `"${String(revision)}"` };
    expect((await admin.send('PATCH', '/channels/own', theirs, headers)).status).toBe(200);
    await save.click();
    const dialog = page.getByRole('dialog', { name: 'Somebody changed own while you edited it' });
    await dialog.waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('412')]);
    const lines = await dialog.getByRole('row').allInnerTexts();
    expect(lines.map((line) => line.split(/\s+/).join(' '))).toEqual([
      'Setting Before Theirs Yours',
      'Models demo-reasoning demo-reasoning demo-reasoning demo-reasoning-2',
      'Priority 0 0 4',
      'Weight 1 9 2',
      'Time-outs first_byte – 20s –',
    ]);
    expect(await axeProblems()).toEqual([]);
    await dialog.getByRole('button', { name: 'Save both changes' }).click();
    await page.getByText('own is saved.').waitFor();
    expect(await read()).toMatchObject({
      priority: 4,
      weight: 2,
      timeouts: { first_byte: '20s' },
      models: [{ name: 'demo-reasoning', upstream: 'demo-reasoning-2' }, 'brand-new'],
    });
    expect(await field('First byte').inputValue()).toBe('20s');

    // Another address needs the key again: it would be sent there.
    await field('Base address').fill('https://elsewhere.example.com/v1');
    await save.click();
    await page.getByText(/it again, because it would be sent to another address/).waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);

    // Who is asked for a model, and why nobody else.
    await page.goto(`${gateway.url}/console/channels`);
    await page.getByRole('link', { name: 'Explain a route' }).click();
    await field('Model').fill('demo-chat');
    await field('Protocol of the client').selectOption('messages');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByText('sim would be asked first.').waitFor();
    const order = page.getByRole('region', { name: 'Asked in this order' });
    expect(await order.getByRole('row').allInnerTexts()).toEqual([
      expect.stringContaining('Why here'),
      expect.stringMatching(/1\s+sim[^]*100 %[^]*Speaks messages too/),
      expect.stringMatching(/2\s+spare[^]*Converted to chat/),
    ]);
    const others = page.getByRole('region', { name: 'Not asked, and why' });
    expect(await others.getByRole('row').filter({ hasText: 'own' }).innerText()).toMatch(
      /It does not serve this model\.\s+An entry under Models/,
    );
    expect(await axeProblems()).toEqual([]);
    await field('Key').fill('nobodys');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByText('there is no such key').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('400')]);

    // Of the file: to look at, with its place.
    await page.goto(`${gateway.url}/console/channels/sim`);
    await page.getByText(/Change it in .*\.yaml, line \d+ \(channels\[0\]\)/).waitFor();
    expect(await field('Priority').isDisabled()).toBe(true);
    expect(await save.count()).toBe(0);
    // A clone has everything but secrets.
    await page.goto(`${gateway.url}/console/channels/own`);
    await page.getByRole('link', { name: 'Clone' }).click();
    await page.getByRole('heading', { name: 'New channel like own' }).waitFor();
    expect(await field('Priority').inputValue()).toBe('4');
    expect(await field('Name').inputValue()).toBe('openai-compatible');
    expect(await page.getByText('sk-…cdef').count()).toBe(0);

    await page.locator('nav summary').click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.setViewportSize({ width: 360, height: 800 });
    for (const path of ['channels', 'channels/own', 'channels/new', 'explain?model=demo-chat']) {
      await page.goto(`${gateway.url}/console/${path}`);
      await page.locator('table, form').first().waitFor();
      expect([path, await axeProblems()]).toEqual([path, []]);
      expect([path, await isWider()]).toEqual([path, false]);
    }
    expect(complaints).toEqual([]);
  },
);
