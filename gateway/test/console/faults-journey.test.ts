import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { ask, secrets } from './people.ts';

/* What a person sees of requests that went wrong: where they went, why not elsewhere, and what to do. */

const channel = (name: string, fault: string, model: string, more: string) =>
  `  - { name: ${name}, provider: simulator, base_url: 'SIMULATOR${fault}', protocols: [chat], models: [${model}], ${more} }`;

const config = `
channels:
${channel('overloaded', '/fault(status=529)', 'demo-chat', 'priority: 9')}
${channel('healthy', '', 'demo-chat', 'priority: 0')}
${channel('locked', '', 'demo-reasoning', 'priority: 9, api_key: invalid-one')}
${channel('open', '', 'demo-reasoning', 'priority: 0')}
${channel('torn', '/fault(cut-at=1)', 'torn-chat', 'priority: 9')}
models:
  - { id: torn-chat, type: chat, price: { input: 1, output: 2 } }
users:
  - { email: admin@example.com, role: admin, balance: 100 }
keys:
  - { name: admins, user: admin@example.com, secret: ${secrets.admin} }
`;

const { gateway, opened } = await startJourney({ config });

test.runIf(hasBrowser)(
  'a person finds out where a request went, why not elsewhere, and what needs attention',
  { timeout: 120_000 },
  async () => {
    const { page, signInAt, complaints, axeProblems } = opened;
    const retried = await ask(gateway, secrets.admin);
    await ask(gateway, secrets.admin, 'demo-reasoning');
    const passed = await ask(gateway, secrets.admin, 'demo-reasoning');
    const torn = await ask(gateway, secrets.admin, 'torn-chat');
    await gateway.usage();

    await signInAt(`/requests/${retried}`, 'admin@example.com');
    const part = (name: string) =>
      page.getByRole('heading', { name }).locator('xpath=ancestor::section[1]');
    const lines = () => part('Route').getByRole('listitem').allInnerTexts();
    const words = async () => (await lines()).map((line) => line.replaceAll(/\s+/g, ' '));
    await part('Receipt').waitFor();
    expect(await words()).toEqual([
      expect.stringMatching(/^1 overloaded 529 overloaded /),
      expect.stringMatching(/^2 healthy 200 completed /),
    ]);
    // The waterfall has a bar for each.
    for (const name of ['overloaded', 'healthy']) {
      await part('Time').getByText(name, { exact: true }).first().waitFor();
    }
    await page.getByText('Failed attempts are not charged.').waitFor();
    expect(await axeProblems()).toEqual([]);

    // The channel whose credential was refused by the request before is not asked, and is said to be passed over.
    await page.goto(`${gateway.url}/console/requests/${passed}`);
    await part('Receipt').waitFor();
    expect(await words()).toEqual([
      expect.stringMatching(/^1 open 200 completed /),
      '– locked Not asked: its provider had refused its credential.',
    ]);
    expect(await axeProblems()).toEqual([]);

    await page.goto(`${gateway.url}/console/requests/${torn}`);
    await part('Route').waitFor();
    expect(await words()).toEqual([expect.stringMatching(/^1 torn /)]);
    await page.getByText('Nothing was charged', { exact: true }).waitFor();
    await page.getByText('Every channel that was asked failed.').waitFor();

    // From what needs attention to the channel's state.
    await page.goto(`${gateway.url}/console/`);
    const attention = part('Needs attention');
    await attention.getByText('locked fails').waitFor();
    await attention
      .getByRole('listitem')
      .filter({ hasText: 'locked fails' })
      .getByRole('link', { name: 'See health' })
      .click();
    const failing = page.getByRole('region', { name: 'What fails' });
    await failing.getByRole('row', { name: /^locked .* credential/ }).waitFor();
    expect(complaints).toEqual([]);
  },
);
