import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hasBrowser, startJourney } from './browser.ts';
import { password, secrets } from './people.ts';

const channel = (name: string, fault: string) => `
  - name: ${name}
    provider: simulator
    base_url: SIMULATOR/fault(${fault})
    protocols: [chat]
    models: [${name}]`;

const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, messages, responses, generate-content, images]
    models: [demo-chat, demo-reasoning, lab-image]
  ${channel('slow-chat', 'gap=200;events=200').trim()}
  ${channel('torn-chat', 'error-at=3').trim()}
  ${channel('busy-chat', 'status=529').trim()}
models:
  - id: lab-image
    type: image
    price: { image_tiers: [{ name: 4K, max_pixels: 16777216, price: 0.045 }] }
  - { id: slow-chat, type: chat, price: { input: 1, output: 2 } }
  - { id: torn-chat, type: chat, price: { input: 1, output: 2 } }
  - { id: busy-chat, type: chat, price: { input: 1, output: 2 } }
users:
  - { email: admin@example.com, role: admin }
  - { email: member@example.com, balance: 100 }
  - { email: viewer@example.com, role: viewer }
teams:
  - { name: research, balance: 10, members: [{ user: member@example.com }] }
keys:
  - { name: members, user: member@example.com, secret: ${secrets.member} }
`;

const { gateway, opened } = await startJourney({ config });

const address = (...partners: string[]) =>
  `${gateway.url}/console/playground?ask=${encodeURIComponent(JSON.stringify(partners))}`;

test.runIf(hasBrowser)(
  'a person asks models in every protocol, side by side, stops one, and sees what went wrong',
  { timeout: 180_000 },
  async () => {
    const { page, complaints, axeProblems } = opened;
    await page.goto(address('chat:demo-chat'));
    await page.getByLabel('E-mail address').fill('member@example.com');
    await page.getByLabel('Password').fill(password);
    await page.keyboard.press('Enter');
    const column = (model: string) => page.getByRole('region', { name: model, exact: true });
    const question = page.getByLabel('Question');
    const ask = async (text: string) => {
      await question.fill(text);
      await page.keyboard.press('Control+Enter');
    };

    await question.waitFor();

    // In every protocol through the real endpoint, each with its figures.
    for (const protocol of ['chat', 'messages', 'responses', 'generate-content']) {
      await page.goto(address(`${protocol}:demo-chat`));
      await ask(`Say ${protocol}`);
      const said = column('demo-chat');
      await said.getByText(`Say ${protocol}`).nth(1).waitFor();
      await said.getByText('done', { exact: true }).waitFor();
      await said.getByRole('link', { name: 'Receipt' }).waitFor();
      expect(await said.locator('.money').getAttribute('title')).toMatch(/^0\.0\d+ USD$/);
      await said.getByRole('button', { name: 'Raw request and events' }).click();
      const raw = page.getByRole('dialog');
      const line = (await raw.getByRole('region', { name: 'curl' }).textContent()) ?? '';
      expect(await page.content()).not.toMatch(/sk-[0-9A-Za-z]{40}/);
      const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -sf`], {
        env: { ...process.env, SLUICE_KEY: secrets.member },
      });
      expect([protocol, stdout]).toEqual([protocol, expect.stringContaining('data:')]);
      await page.keyboard.press('Escape');
    }
    expect(await axeProblems()).toEqual([]);
    // It opens elsewhere, and the conversation stays.
    const receiptOf = async (name: string) => {
      const [receipt] = await Promise.all([
        page.context().waitForEvent('page'),
        column(name).getByRole('link', { name: 'Receipt' }).click(),
      ]);
      await receipt.getByRole('heading', { name: 'Receipt' }).waitFor();
      return receipt;
    };
    const first = await receiptOf('demo-chat');
    await first.getByText('key playground').waitFor();
    await first.close();
    await column('demo-chat').getByRole('link', { name: 'Receipt' }).waitFor();

    // Two beside each other; one reasons. What was said before is part of the next question.
    await page.goto(address('messages:demo-chat'));
    await page.getByRole('button', { name: 'Compare with another' }).click();
    await column('busy-chat').getByLabel('Model').selectOption('demo-reasoning');
    await ask('The first');
    await column('demo-reasoning').getByText('Reasoning', { exact: true }).waitFor();
    await column('demo-reasoning').getByText('done', { exact: true }).waitFor();
    await column('demo-chat').getByText('done', { exact: true }).waitFor();
    await ask('The second');
    await column('demo-chat').getByText('The second').nth(1).waitFor();
    await column('demo-chat').getByText('done', { exact: true }).waitFor();
    await column('demo-chat').getByRole('button', { name: 'Raw request and events' }).click();
    await page.getByRole('dialog').getByText('"content": "The first"').waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.keyboard.press('Escape');
    expect(page.url()).toContain(encodeURIComponent('messages:demo-chat'));

    // A team pays.
    await page.goto(address('chat:demo-chat'));
    await page.locator('form summary').click();
    await page.getByLabel('Who pays').selectOption('research');
    expect(await axeProblems()).toEqual([]);
    await page.locator('form summary').click();
    await page.getByText('Charged to research').waitFor();
    await ask('For the team');
    const ofTeam = await receiptOf('demo-chat');
    await ofTeam.getByText('research').first().waitFor();
    await ofTeam.close();

    // A picture: another model in the same column, which is asked in another way.
    await page.goto(address('chat:demo-chat'));
    await column('demo-chat').getByLabel('Model').selectOption('lab-image');
    await ask('A lighthouse');
    const image = column('lab-image').getByAltText('A picture of the model');
    await image.waitFor();
    expect(await page.evaluate("document.querySelector('main img').naturalWidth > 0")).toBe(true);
    await column('lab-image').locator('.money[title="0.045 USD"]').waitFor();

    // Stopped in the middle: what came stays, and the gateway knows that somebody left.
    await page.goto(address('chat:slow-chat'));
    await ask('Slowly');
    await column('slow-chat').getByText('streams', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await column('slow-chat').getByText('stopped', { exact: true }).waitFor();
    const stopped = await receiptOf('slow-chat');
    await stopped.getByText('left', { exact: false }).first().waitFor();
    await stopped.close();

    // An error in the middle, and a refusal, each in words.
    await page.goto(address('chat:torn-chat', 'messages:busy-chat'));
    await ask('Fail');
    await column('torn-chat').getByText('The answer ended with an error').waitFor();
    await column('busy-chat')
      .getByText(/Refused 5\d\d: /)
      .waitFor();
    expect(await axeProblems()).toEqual([]);
    // The browser itself reports the refusal.
    expect(complaints.splice(0)).toEqual([expect.stringMatching(/ 5\d\d /)]);
  },
);

test.runIf(hasBrowser)(
  'S-29 what a model says adds no markup, runs nothing, and loads nothing from elsewhere',
  { timeout: 120_000 },
  async () => {
    const { page, complaints, axeProblems, isWider } = opened;
    const attacks = [
      '<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>',
      '![pixel](https://evil.invalid/p.png) ![data](data:text/html,x)',
      '[link](javascript:alert(4)) [real](https://example.invalid/page)',
      '| a | b |\n|---|---|\n| <iframe src=//evil.invalid> | **bold** `code` |',
    ];
    const chunk = { choices: [{ delta: { content: attacks.join('\n\n') } }] };
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`,
      }),
    );
    await page.goto(address('chat:demo-chat'));
    await page.getByLabel('Question').fill(attacks.join('\n\n'));
    await page.getByRole('button', { name: 'Send' }).click();
    const said = page.getByRole('region', { name: 'demo-chat', exact: true });
    await said.getByText('done', { exact: true }).waitFor();
    await said.getByRole('link', { name: 'real' }).waitFor();
    await expect.poll(() => said.getByRole('link', { name: 'pixel' }).count()).toBe(1);
    expect(await said.getByRole('link', { name: 'link', exact: true }).count()).toBe(0);
    expect(await said.locator('img, script, iframe, svg[onload]').count()).toBe(0);
    await expect.poll(() => said.locator('td strong', { hasText: 'bold' }).count()).toBe(1);
    await expect.poll(() => said.getByText('onerror=alert(1)').count()).toBe(2);
    expect(await axeProblems()).toEqual([]);
    // Neither a refusal of the policy nor a request to another place.
    expect(complaints).toEqual([]);

    // The key is nowhere but in memory.
    const stored = await page.evaluate('JSON.stringify([localStorage, sessionStorage])');
    expect(stored).not.toMatch(/sk-/);

    // In the other language and theme, on a phone, with a narrow word less than none.
    await page.locator('nav summary').click();
    await page.getByLabel('Theme').selectOption('dark');
    await page.getByLabel('Language').selectOption('zh-CN');
    await page.getByRole('heading', { name: '试用' }).waitFor();
    expect(await axeProblems()).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await isWider()).toBe(false);
    expect(await axeProblems()).toEqual([]);
    await page.route('**/admin/v1/models', (route) => route.fulfill({ json: { data: [] } }));
    await page.goto(address());
    await page.getByText('没有可供您试用的模型').waitFor();
    expect(await axeProblems()).toEqual([]);
    expect(complaints).toEqual([]);
  },
);
