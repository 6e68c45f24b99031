import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { hasBrowser, visit, type Visit } from './browser.ts';
import { ask, password, secrets, startWithPeople } from './people.ts';
import { signIn } from './person.ts';

let gateway: TestGateway;
let opened: Visit;

beforeAll(async () => {
  if (!hasBrowser) return;
  gateway = await startWithPeople();
  opened = await visit(gateway.url);
}, 60_000);

afterAll(async () => {
  await opened?.close();
  await gateway?.close();
});

test.runIf(hasBrowser)(
  'who changed what is found by author, kind and object, and stored as a file',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    const member = await signIn(gateway.url, 'member@example.com', password);
    const made = await member.send('POST', '/keys', { name: 'laptop', rpm: 60 });
    const { id } = (await made.json()) as { readonly id: string };
    const revision = { 'if-match': made.headers.get('etag') ?? '' };
    expect((await member.send('PATCH', `/keys/${id}`, { rpm: 30 }, revision)).status).toBe(200);

    await signInAt('/', 'viewer@example.com');
    await page.getByRole('link', { name: 'Records' }).click();
    await page.getByRole('tab', { name: 'Audit' }).click();
    const rows = page.getByRole('region', { name: 'Changes, newest first' }).locator('tbody tr');
    const change = rows.filter({ hasText: 'key: changed' });
    await change.getByText('60').waitFor();
    expect(await change.locator('dl').textContent()).toBe('rpm60 → 30');
    expect(await rows.filter({ hasText: 'key: added' }).first().textContent()).not.toContain('sk-');
    expect(await axeProblems()).toEqual([]);

    // A name filters, and the address keeps it.
    await change.getByRole('link', { name: 'member@example.com' }).click();
    await rows.filter({ hasText: 'viewer@example.com' }).first().waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('actor')).toBe('member@example.com');
    await page.getByRole('combobox', { name: 'What' }).selectOption('key');
    await rows.filter({ hasText: 'session' }).first().waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(2);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ]);
    const stream = await file.createReadStream();
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    expect(Buffer.concat(parts).toString().trimEnd().split('\r\n')).toHaveLength(3);
    await page.getByLabel('Object').fill('nothing');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing was changed in this range').waitFor();

    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${gateway.url}/console/records?tab=audit`);
    await rows.first().waitFor();
    expect(await axeProblems()).toEqual([]);
    expect(await isWider()).toBe(false);
    expect(complaints).toEqual([]);

    // Others do not have the page.
    const other = await visit(gateway.url);
    await other.signInAt('/records', 'member@example.com');
    await other.page.getByText('Your role does not allow this page.').waitFor();
    expect(await other.page.getByRole('link', { name: 'Records' }).count()).toBe(0);
    await other.close();
  },
);

test.runIf(hasBrowser)(
  'the books are compared with the requests, and a difference is shown to be kept',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider, close } = await visit(gateway.url);
    await ask(gateway, secrets.member);
    await gateway.usage();
    await signInAt('/records', 'admin@example.com');
    await page.getByText('as it must be').waitFor();
    await page.getByLabel('Search by name').fill('MEMB');
    const accounts = page.getByRole('region', { name: 'Accounts' }).last().locator('tbody tr');
    await accounts.filter({ hasText: 'admin@example.com' }).waitFor({ state: 'detached' });
    expect(await accounts.count()).toBe(1);
    await page.getByText('Nobody has compared').waitFor();
    await page.getByRole('button', { name: 'Reconcile now' }).click();
    await page.getByText('No difference').waitFor();
    expect(await axeProblems()).toEqual([]);

    await gateway.app.database.kysely
      .updateTable('spent_totals')
      .set({ credited: 101_000_000_000n })
      .where('meter', 'like', 'user:%:balance')
      .where('spent', '>', 0n)
      .execute();
    await page.getByRole('button', { name: 'Reconcile now' }).click();
    await page.getByText('1 difference: nothing was changed').waitFor();
    await page.getByText('expected 100000000000, found 101000000000').waitFor();
    await page.getByText('must be 0').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await axeProblems()).toEqual([]);
    expect(await isWider()).toBe(false);
    expect(complaints).toEqual([]);
    await close();
  },
);
