import { expect, onTestFinished, test } from 'vitest';
import { awaitEnd, submitted, synthesis } from '../behaviour/video-requests.ts';
import { startVideoUpstream, videoConfig } from '../support/video-upstream.ts';
import { hasBrowser, startJourney, visit } from './browser.ts';
import { ask, secrets, signInAs, startWithPeople } from './people.ts';

const { gateway, opened } = await startJourney();

test.runIf(hasBrowser)(
  'who changed what is found by author, kind and object, and stored as a file',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = opened;
    const member = await signInAs(gateway, 'member');
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
    // A part of a name is enough.
    await page.getByLabel('Object').fill('APTO');
    await page.keyboard.press('Enter');
    await page.waitForURL(/object=APTO/);
    await expect.poll(() => rows.count()).toBe(2);
    // A view of it is kept with the account.
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByLabel('Name of this view').fill('Laptops of members');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Laptops of members' }).waitFor();
    await page.goto(`${gateway.url}/console/requests`);
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Command palette' }).fill('laptops of');
    await page.keyboard.press('Enter');
    await page.waitForURL(/records\?.*object=APTO/);
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel('Object').fill('nothing');
    await page.keyboard.press('Enter');
    await page.getByText('Nothing was changed in this range').waitFor();

    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${gateway.url}/console/records?tab=audit`);
    await rows.first().waitFor();
    expect(await axeProblems()).toEqual([]);
    expect(await isWider()).toBe(false);
    expect(complaints).toEqual([]);

    // Members have their own tasks only, and the page is not in their rail.
    const other = await visit(gateway.url);
    await other.signInAt('/records?tab=audit', 'member@example.com');
    await other.page.getByText('No video task is open.').waitFor();
    await expect.poll(() => other.page.getByRole('tab').allTextContents()).toEqual(['Tasks']);
    expect(await other.page.getByRole('link', { name: 'Records' }).count()).toBe(0);
  },
);

test.runIf(hasBrowser)(
  'the books are compared with the requests, and a difference is shown to be kept',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems, isWider } = await visit(gateway.url);
    await ask(gateway, secrets.member);
    await gateway.usage();
    await signInAt('/records', 'admin@example.com');
    await page.getByText('as it must be').waitFor();

    // Whose entries, of which kind: the address keeps it. A charge leads to its receipt.
    const entries = page.getByRole('region', { name: 'Entries' }).last().locator('tbody tr');
    await entries.getByText('opening').first().waitFor();
    expect(await entries.count()).toBe(3);
    await page.getByLabel('Account', { exact: true }).fill('member@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Amount' }).selectOption('negative');
    await entries.filter({ hasText: 'opening' }).first().waitFor({ state: 'detached' });
    expect(await entries.count()).toBe(1);
    expect(new URL(page.url()).searchParams.get('account')).toBe('member@example.com');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('entries.csv');
    await entries.getByRole('link', { name: '1 request' }).click();
    await page.getByText('member@example.com').first().waitFor();
    expect(page.url()).toContain('/requests/req_');
    await page.goBack();

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
  },
);

test.runIf(hasBrowser)(
  'a person follows a video task from its hold to its receipt',
  { timeout: 120_000 },
  async () => {
    const upstream = await startVideoUpstream();
    const people = `
users:
  - { email: member@example.com, balance: 100 }
  - { email: operator@example.com, role: operator }
keys:
  - { name: members, user: member@example.com, secret: ${secrets.member} }
`;
    const videos = await startWithPeople({ config: videoConfig(upstream.url, people) });
    onTestFinished(() => videos.close());
    const { id } = await submitted(
      videos.url,
      synthesis,
      { resolution: '720P', seconds: 5 },
      { key: secrets.member },
    );
    const { page, signInAt, complaints, axeProblems, isWider } = await visit(videos.url);
    await signInAt('/', 'operator@example.com');
    await page.getByRole('link', { name: 'Records' }).click();
    // The only tab of this role.
    await expect.poll(() => page.getByRole('tab').allTextContents()).toEqual(['Tasks']);
    const row = page.getByRole('region', { name: 'Video tasks, newest first' }).locator('tbody tr');
    await row.getByText('0.50').waitFor();
    await row.getByRole('link').first().click();
    const course = page.getByRole('region', { name: 'Course of the task' });
    await course.getByText('0.5 USD are held, and the price is fixed: 0.1 USD a unit').waitFor();
    await course.getByText(`Accepted by first`).waitFor();
    expect(new URL(page.url()).searchParams.get('task')).toBe(id);
    expect(await axeProblems()).toEqual([]);

    upstream.end({ status: 'succeeded', usage: 5 });
    await awaitEnd(videos.url, synthesis, id, 'succeeded', { key: secrets.member });
    await videos.usage(1);
    await course.getByText('The video is ready').waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await axeProblems()).toEqual([]);
    expect(await isWider()).toBe(false);
    await course.getByRole('link', { name: 'Receipt' }).click();
    await page.getByText('member@example.com').first().waitFor();
    expect(complaints).toEqual([]);
  },
);
