import { expect, test } from 'vitest';
import { nanoOf } from '../money/books.ts';
import { askChat } from '../workers/workplace.ts';
import { startClockedGateway } from './wall-clock.ts';

/*
 * B-16 to B-19: budgets of a gateway that runs over midnight. No job resets them, so none can come late: the moment the
 * team's clock says another day, the day's budget is another one.
 */

const key = (team: string) => `sk-${team}-0123456789abcdefghijklmnopqrstuv`;
const second = 1_000;

/** One request uses up a budget of 0.02 USD. */
const teams = [
  { name: 'utc', zone: 'UTC', budget: 'monthly: 0.02' },
  { name: 'shanghai', zone: 'Asia/Shanghai', budget: 'daily: 0.02' },
  { name: 'shanghai-month', zone: 'Asia/Shanghai', budget: 'monthly: 0.02' },
  { name: 'new-york', zone: 'America/New_York', budget: 'daily: 0.02' },
  { name: 'wide', zone: 'UTC', budget: 'daily: 500, monthly: 500' },
] as const;

const config = `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [{ name: priced, upstream: demo-chat }] }
models: [{ id: priced, type: chat, context_window: 4000, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }]
users: [{ email: tester@example.com }]
teams:
${teams.map(({ name, zone, budget }) => `  - { name: ${name}, balance: 1000, time_zone: ${zone}, budget: { ${budget} } }`).join('\n')}
keys:
${teams.map(({ name }) => `  - { name: ${name}, user: tester@example.com, team: ${name}, secret: ${key(name)} }`).join('\n')}
`;

interface Window {
  readonly window: string;
  readonly used: string;
}

/** The team budgets that a key sees. */
async function budgetsOf(url: string, team: string): Promise<Record<'daily' | 'monthly', Window>> {
  const headers = { authorization: `Bearer ${key(team)}` };
  const response: unknown = await (await fetch(`${url}/v1/usage`, { headers })).json();
  return (response as { limits: { team: Record<'daily' | 'monthly', Window> } }).limits.team;
}

/** Each team's in the order of the clock. */
const windows = [
  ['B-18 February', 'utc', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
  ['B-18 February of Shanghai', 'shanghai-month', '2026-02-28T15:59:00Z', '2026-02-28T16:00:00Z'],
  ['B-17 a day of 23 hours', 'new-york', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'],
  ['B-18 April', 'utc', '2026-04-01T00:00:00Z', '2026-05-01T00:00:00Z'],
  ['B-16 a day of Shanghai', 'shanghai', '2026-05-20T16:00:00Z', '2026-05-21T16:00:00Z'],
  ['B-17 a day of 25 hours', 'new-york', '2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'],
  ['B-18 December', 'utc', '2026-12-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['B-18 February of a leap year', 'utc', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
] as const;

test(
  'a used-up budget stays so until the last second of its window, and is free in the next',
  { timeout: 60_000 },
  async () => {
    const start = Date.parse(windows[0][2]);
    const { url, stepTo, close } = await startClockedGateway({ config, time: start });
    for (const [name, team, begin, end] of windows) {
      const isDaily = teams.find((each) => each.name === team)?.budget.startsWith('daily') === true;
      const statusAt = async (time: number): Promise<readonly [string, number, string]> => {
        await stepTo(time);
        const { status, text } = await askChat(url, { model: 'priced', key: key(team) });
        const message = /team \w+ budget exceeded/.exec(text)?.[0] ?? '';
        return [name, status, message];
      };
      const used = [name, 429, `team ${isDaily ? 'daily' : 'monthly'} budget exceeded`];
      const free = [name, 200, ''];
      expect(await statusAt(Date.parse(begin))).toEqual(free);
      expect(await statusAt(Date.parse(begin) + second)).toEqual(used);
      // With time for a slow machine.
      expect(await statusAt(Date.parse(end) - 20 * second)).toEqual(used);
      expect(await statusAt(Date.parse(end))).toEqual(free);
      expect(await statusAt(Date.parse(end) + second)).toEqual(used);
    }
    await close();
  },
);

test('B-19 a request admitted before midnight and settled after it counts on the day of its admission', async () => {
  const midnight = Date.parse('2026-04-01T00:00:00Z');
  const before = midnight - 20 * second;
  const { url, simulator, stepTo, database, close } = await startClockedGateway({
    config,
    time: before,
  });
  const late = fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key('wide')}`,
      'content-type': 'application/json',
      'x-simulator-fault': 'gap=100;events=20',
    },
    body: JSON.stringify({
      model: 'priced',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    }),
  });
  await expect.poll(() => simulator.requests().length).toBe(1);
  await stepTo(midnight + 10 * second);
  // Held for the old day, which does not affect the new one.
  expect(await budgetsOf(url, 'wide')).toMatchObject({
    daily: { window: '2026-04-01', used: '0', held: '0' },
    monthly: { window: '2026-04', used: '0', held: '0' },
  });
  expect(await (await late).text()).toContain('data: [DONE]');

  const rows = () =>
    database.kysely.selectFrom('usage').select(['cost', 'budget_window']).execute();
  await expect.poll(async () => (await rows()).length).toBe(1);
  const [row] = await rows();
  expect(row).toMatchObject({ budget_window: '2026-03-31' });
  expect(await budgetsOf(url, 'wide')).toMatchObject({ daily: { used: '0', held: '0' } });
  await stepTo(before);
  const { daily, monthly } = await budgetsOf(url, 'wide');
  expect([daily.window, monthly.window]).toEqual(['2026-03-31', '2026-03']);
  expect(nanoOf(daily.used)).toBe(row?.cost);
  expect(nanoOf(monthly.used)).toBe(row?.cost);
  expect(row?.cost).toBeGreaterThan(0n);
  await close();
});
