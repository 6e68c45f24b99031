import type { Page } from 'playwright-core';
import type { TestGateway } from '#test/support/gateway.ts';

/** What of the demo's history the pages show. */
export interface Shown {
  /** A request that a second channel answered, with a cache and a group's factor. */
  readonly retried: string;
  readonly failed: string;
  readonly converted: string;
  readonly reasoning: string;
  readonly image: string;
  readonly video: string;
  readonly free: string;
  readonly quarantined: string;
}

export interface Shot {
  readonly name: string;
  /** Below `/console`. */
  readonly path: string;
  /** Nobody is signed in. */
  readonly isOutside?: true;
  /** What somebody does before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<void>;
}

/** The picture of every page, in the order of the index. */
export function shotsOf(shown: Shown): readonly Shot[] {
  const playground = JSON.stringify(['messages:claude-sonnet-5', 'chat:demo-reasoning']);
  return [
    { name: 'sign-in', path: '/sign-in', isOutside: true },
    { name: 'invite', path: '/invite#token', isOutside: true },
    { name: 'welcome', path: '/welcome' },
    { name: 'overview', path: '/?range=7d' },
    { name: 'overview-30d', path: '/?range=30d&group=key&metric=requests' },
    { name: 'requests', path: '/requests?range=24h' },
    {
      name: 'requests-filter',
      path: '/requests?range=7d&filter=model%3Aclaude*',
      async prepare(page) {
        await page.getByRole('combobox').first().fill('model:claude* st');
      },
    },
    { name: 'requests-live', path: '/requests?live=true' },
    { name: 'request', path: `/requests?range=24h&open=${shown.retried}` },
    ...(Object.entries(shown) as [string, string][]).map(([kind, id]) => ({
      name: `request-${kind}`,
      path: `/requests/${id}`,
    })),
    { name: 'usage', path: '/usage?range=30d&group=team&sub=model' },
    { name: 'usage-table', path: '/usage?range=7d&group=key&view=table&metric=requests' },
    { name: 'channels', path: '/channels' },
    { name: 'channel', path: '/channels/anthropic-main' },
    { name: 'channel-new', path: '/channels/new' },
    { name: 'explain', path: '/explain?model=gpt-5&protocol=messages' },
    { name: 'models', path: '/models' },
    { name: 'model', path: '/models/claude-sonnet-5' },
    { name: 'model-picture', path: '/models/demo-image' },
    { name: 'keys', path: '/keys' },
    { name: 'key-new', path: '/keys?make=true' },
    {
      name: 'playground',
      path: `/playground?ask=${encodeURIComponent(playground)}`,
      async prepare(page) {
        await page.locator('#prompt').fill('What is a sluice?');
        await page.keyboard.press('Control+Enter');
        await page.locator('a[href*="/requests/req_"]').nth(1).waitFor();
      },
    },
    { name: 'people', path: '/people' },
    { name: 'person', path: '/people/member@example.com' },
    { name: 'person-new', path: '/people?invite=true' },
    { name: 'teams', path: '/teams' },
    { name: 'team', path: '/teams/platform' },
    { name: 'team-new', path: '/teams?make=true' },
    { name: 'health', path: '/health' },
    { name: 'records-books', path: '/records' },
    { name: 'records-tasks', path: '/records?tab=tasks&kind=ended' },
    { name: 'records-audit', path: '/records?tab=audit&range=7d' },
    { name: 'settings', path: '/settings' },
    { name: 'settings-gateway', path: '/settings/gateway' },
    { name: 'settings-sign-in', path: '/settings/sign-in' },
    { name: 'settings-admin-keys', path: '/settings/admin-keys' },
    {
      name: 'search',
      path: '/?range=7d',
      async prepare(page) {
        await page.keyboard.press('Control+k');
        await page.locator('dialog input').fill('cla');
        await page.locator('dialog [role=option]').first().waitFor();
      },
    },
    {
      name: 'shortcuts',
      path: '/?range=7d',
      async prepare(page) {
        await page.keyboard.press('?');
        await page.locator('dialog[open]').waitFor();
      },
    },
  ];
}

/** The ids of the requests that have pages of their own. */
export async function shownOf({ usage }: TestGateway): Promise<Shown> {
  const rows = await usage(1_000);
  const find = (what: (row: (typeof rows)[number]) => boolean): string => {
    const row = rows.find(what);
    if (row === undefined) throw new Error(`no such row: ${String(what)}`);
    return row.id;
  };
  return {
    retried: find(({ channel }) => channel === 'bedrock-eu'),
    failed: find(({ model }) => model === 'mistral-edge'),
    converted: find(({ model, losses }) => model === 'gpt-5' && losses.length > 0),
    reasoning: find(({ model }) => model === 'demo-reasoning'),
    image: find(({ model }) => model === 'demo-image'),
    video: find(({ model }) => model === 'demo-video-1'),
    free: find(({ model }) => model === 'qwen3-coder'),
    quarantined: find(({ model, tokens }) => model === 'llama-fast' && tokens.input > 1_000_000),
  };
}
