import { beforeAll, expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { signInAs } from './people.ts';
import type { Person } from './person.ts';

const { gateway, opened } = await startJourney();
/** The other one, who is faster. */
let other: Person;

beforeAll(async () => {
  if (!hasBrowser) return;
  other = await signInAs(gateway, 'admin');
  await opened.signInAt('/keys', 'admin@example.com');
});

interface Case {
  readonly page: 'keys' | 'users' | 'teams' | 'models';
  /** Whether what was typed waits in the tab, over a reload. */
  readonly waits?: boolean;
  readonly create: object;
  /** What the list and the dialog call it. */
  readonly name: string;
  /** Fields with what is typed. */
  readonly yours: readonly (readonly [label: string, text: string])[];
  readonly theirs: object;
  /** The rows of what both did. */
  readonly rows: readonly string[];
  readonly merged: object;
  /** What the other one does another time. */
  readonly later: object;
}

const cases: readonly Case[] = [
  {
    page: 'keys',
    create: { name: 'shared', quota: '5', rpm: 10 },
    name: 'shared',
    yours: [
      ['Quota, USD', '7'],
      ['Requests a minute', '20'],
    ],
    theirs: { quota: '6', rph: 900 },
    rows: ['Quota, USD 5 6 7', 'Requests a minute 10 10 20', 'Requests an hour – 900 –'],
    merged: { quota: '7', rpm: 20, rph: 900 },
    later: { quota: '9' },
  },
  {
    page: 'users',
    create: { email: 'ada@example.com', name: 'Ada', quota: '5' },
    name: 'Ada',
    yours: [['Quota, USD', '7']],
    theirs: { role: 'viewer' },
    rows: ['Role member viewer member', 'Quota, USD 5 5 7'],
    merged: { role: 'viewer', quota: '7' },
    later: { quota: '9' },
  },
  {
    page: 'teams',
    create: { name: 'lab', budget: { daily: '1', monthly: '20' } },
    name: 'lab',
    yours: [['Budget of a day, USD', '2']],
    theirs: { budget: { daily: '1', monthly: '30' }, rpm: 60 },
    rows: [
      'Budget of a day, USD 1 1 2',
      'Budget of a month, USD 20 30 20',
      'Requests a minute – 60 –',
    ],
    merged: { budget: { daily: '2', monthly: '30' }, rpm: 60 },
    later: { budget: { daily: '9', monthly: '30' } },
  },
  {
    page: 'models',
    waits: true,
    create: { id: 'house', type: 'chat', price: { input: '1', output: '2' } },
    name: 'house',
    yours: [
      ['Input', '3'],
      ['Context window, tokens', '9000'],
    ],
    theirs: { price: { input: '1', output: '5' }, display_name: 'House' },
    rows: [
      'Name for people – House –',
      'Context window, tokens – – 9000',
      'Input 1 1 3',
      'Output 2 5 2',
    ],
    merged: {
      price: { input: '3', output: '5' },
      display_name: 'House',
      context_window: 9_000,
    },
    later: { price: { input: '9', output: '5' } },
  },
];

test.runIf(hasBrowser).each(cases)(
  'of two people with one form of $page, the second sees both versions, and keeps what only one has touched',
  { timeout: 60_000 },
  async ({ page: path, waits, create, name, yours, theirs, rows, merged, later }) => {
    const { page, complaints, axeProblems } = opened;
    const headers = { 'idempotency-key': `two-editors-of-${path}` };
    const made = await other.send('POST', `/${path}`, create, headers);
    if (made.status !== 201) throw new Error(await made.text());
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as { readonly id: string };
    type Entry = Readonly<Record<string, unknown>>;
    const read = async () => {
      const entry = (await (await other.get(`/${path}/${id}`)).json()) as Entry;
      return path === 'models' ? (entry['settings'] as Entry) : entry;
    };

    const places = {
      keys: '/keys',
      users: '/people',
      teams: `/teams/${id}`,
      models: `/models/${id}`,
    };
    const isOfList = !places[path].endsWith(id);
    await page.goto(`${gateway.url}/console${places[path]}`);
    const form = page.getByRole('dialog', { name: `Change ${name}` });
    const showForm = async () => {
      if (isOfList) await page.getByRole('button', { name: `Actions of ${name}` }).click();
      await page
        .getByRole(isOfList ? 'menuitem' : 'button', { name: 'Change', exact: true })
        .click();
    };
    const openForm = async () => {
      await showForm();
      for (const [label, text] of yours) await form.getByLabel(label, { exact: true }).fill(text);
    };
    const changeElsewhere = async (change: object) => {
      const { revision } = await read();
      const seen = { 'if-match': `"${String(revision)}"` };
      expect((await other.send('PATCH', `/${path}/${id}`, change, seen)).status).toBe(200);
    };
    await openForm();
    await changeElsewhere(theirs);
    if (waits) {
      await page.reload();
      await showForm();
    }
    await form.getByRole('button', { name: 'Save' }).click();
    const both = page.getByRole('dialog', { name: `Somebody changed ${name} while you edited it` });
    await both.waitFor();
    const lines = (await both.getByRole('row').allInnerTexts()).slice(1);
    expect(lines.map((line) => line.split(/\s+/).join(' '))).toEqual(rows);
    expect(await axeProblems()).toEqual([]);
    // What was typed is there after a second thought.
    await page.keyboard.press('Escape');
    await both.waitFor({ state: 'detached' });
    const [[label, text]] = yours as [[string, string]];
    expect(await form.getByLabel(label, { exact: true }).inputValue()).toBe(text);
    await form.getByRole('button', { name: 'Save' }).click();
    await both.getByRole('button', { name: 'Save both changes' }).click();
    await form.waitFor({ state: 'detached' });
    expect(await read()).toMatchObject(merged);

    // A change of something that the form does not have contradicts nobody.
    await openForm();
    await form.getByLabel(label, { exact: true }).fill('1');
    await changeElsewhere({});
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });

    await openForm();
    await changeElsewhere(later);
    await form.getByRole('button', { name: 'Save' }).click();
    await both.getByRole('button', { name: 'Take theirs' }).click();
    await both.waitFor({ state: 'detached' });
    const present = await read();
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    expect(await read()).toMatchObject({ ...present, revision: expect.any(Number) });
    for (const complaint of complaints.splice(0)) expect(complaint).toContain('412');
  },
);
