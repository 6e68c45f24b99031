import { expect, test, vi } from 'vitest';
import { formatUsd, parseUsd } from '#database/index.ts';
import type { UsageEntry } from '#usage/index.ts';
import { openRunningWorkplace } from '../commands/support.ts';
import { runClients } from './load.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

const adaKey = 'sk-ada-0123456789abcdefghijklmnopqrstuvw';
const bobKey = 'sk-bob-0123456789abcdefghijklmnopqrstuvw';

/** Milliseconds under load. */
const howLong = process.env['SLUICE_FAULT_LOOPS'] === undefined ? 3_000 : 30_000;

/** What the accounts have at the start, and what each round adds to them. */
const opening = parseUsd('1000');
const credit = { user: '0.5', team: '0.000000001' };

/** Every setting that money is near to is another each turn; an opening credit counts once, whatever it is later. */
const fileOf = (simulator: string, turn: number): string => `
server: { port: 0, drain_timeout: 5s }
groups: [{ name: vip, price_multiplier: ${1 + (turn % 5) / 10} }]
channels:
  - name: sim
    provider: simulator
    base_url: ${simulator}
    protocols: [chat, responses, messages, generate-content]
    groups: [default, vip]
    models: [demo-chat]
models:
  - { id: demo-chat, type: chat, max_output_tokens: 1000, price: { input: ${turn + 1}, output: ${2 * turn + 2} } }
users:
  - { email: ada@example.com, name: Ada ${turn}, balance: ${1000 + turn}, quota: ${2000 + turn} }
  - { email: bob@example.com, balance: ${turn} }
teams:
  - name: research
    balance: ${1000 + turn}
    rpm: ${100_000 + turn}
    budget: { daily: ${3000 + turn}, monthly: ${4000 + turn}, total: ${5000 + turn} }
    members: [{ user: bob@example.com, role: member, budget: ${2000 + turn} }]
keys:
  - { name: ada, user: ada@example.com, secret: ${adaKey}, quota: ${2000 + turn}, rpm: ${100_000 + turn} }
  - { name: bob, user: bob@example.com, team: research, group: vip, secret: ${bobKey}, quota: ${2000 + turn} }
`;

async function openWorld() {
  const workplace = await openRunningWorkplace((simulator) => fileOf(simulator, 0));
  const { url } = workplace;
  /** The limits that the running gateway shows a key. */
  const limits = async (key: string): Promise<unknown> => {
    const response = await fetch(`${url}/v1/usage`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return ((await response.json()) as { limits: unknown }).limits;
  };
  const rows = async (): Promise<UsageEntry[]> => {
    const all: UsageEntry[] = [];
    let cursor: string | null = null;
    do {
      const more: string[] = cursor === null ? [] : ['--cursor', cursor];
      const page = (await workplace.json('usage', '--limit', '1000', ...more)) as {
        readonly data: readonly UsageEntry[];
        readonly next: string | null;
      };
      all.push(...page.data);
      cursor = page.next;
    } while (cursor !== null);
    return all;
  };
  return { ...workplace, limits, rows };
}

/** nano-USD. */
function sumOf(rows: readonly UsageEntry[], wanted: (row: UsageEntry) => boolean): bigint {
  return rows.filter(wanted).reduce((sum, { cost }) => sum + parseUsd(cost ?? '0'), 0n);
}

test(
  'S-38 writing settings in a loop during billed requests changes no money',
  { timeout: howLong + 60_000 },
  async () => {
    const world = await openWorld();
    const { url, json, write, simulator, gateway } = world;
    let wanted = true;
    const completed = { count: 0 };
    const loadOf = (key: string) =>
      runClients(
        {
          url,
          key,
          random,
          onCompleted: () => void (completed.count += 1),
          faults: ['', 'gap=5', 'delay=100', 'events=20;gap=20'],
          leaving: 0.05,
          wanted: () => wanted,
        },
        3,
      );
    const load = Promise.all([loadOf(adaKey), loadOf(bobKey)]);

    const reason = ['--reason', 'under load'];
    const end = performance.now() + howLong;
    let turn = 0;
    // A machine with other work takes longer to see as much.
    while (performance.now() < end || turn < 4 || completed.count < 60) {
      turn += 1;
      write(fileOf(simulator.url, turn));
      await json(turn % 2 === 0 ? 'reload' : 'apply');
      await json('user', 'credit', 'ada@example.com', credit.user, ...reason);
      await json('team', 'credit', 'research', credit.team, ...reason);
      const name = `turn-${turn}`;
      const key = ['--user', 'ada@example.com', '--name', name, '--quota', `${turn}`];
      const { key: secret } = (await json('key', 'create', ...key)) as { key: string };
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'hi' }] }),
      });
      expect(response.status).toBe(200);
      await response.text();
      await json('key', 'rotate', name);
      if (turn % 2 === 0) await json('key', 'revoke', name);
    }
    wanted = false;
    const seen = (await load).flat();
    expect(seen.filter(({ completed, left }) => !completed && !left)).toEqual([]);

    // The gateway's own counters. A credit reaches it within seconds, and so does the row of a client that
    // disconnected.
    await vi.waitFor(
      async () => {
        const [ofAda, ofBob] = [await world.limits(adaKey), await world.limits(bobKey)];
        const rows = await world.rows();
        const byAda = sumOf(rows, ({ user }) => user === 'ada@example.com');
        const byAdaKey = sumOf(rows, ({ key }) => key === 'ada');
        const byBob = sumOf(rows, ({ user }) => user === 'bob@example.com');
        expect(byAda).toBeGreaterThan(byAdaKey);
        const credited = (each: string) => opening + BigInt(turn) * parseUsd(each);
        const spent = (used: bigint) => ({ used: formatUsd(used), held: '0' });
        expect(ofAda).toMatchObject({
          balance: formatUsd(credited(credit.user) - byAda),
          key_quota: spent(byAdaKey),
          user_quota: spent(byAda),
        });
        const team = spent(byBob);
        expect(ofBob).toMatchObject({
          balance: formatUsd(credited(credit.team) - byBob),
          key_quota: team,
          team: { total: team, member: team },
        });
      },
      { timeout: 10_000, interval: 250 },
    );

    gateway.child.kill('SIGINT');
    expect(await gateway.exit).toBe(0);
    expect(gateway.stderr()).not.toMatch(/"level":(50|60)/);
    expect(await json('reconcile')).toMatchObject({ ok: true, differences: 0 });

    const rows = await world.rows();
    // One row for each key of a turn, several prices, and every completed response was paid for.
    expect(new Set(rows.map(({ key }) => key)).size).toBe(2 + turn);
    const prices = rows.flatMap(({ key, cost, tokens: { input, output } }) =>
      key !== 'ada' || cost === null || input === 0
        ? []
        : [parseUsd(cost) / BigInt(input + 2 * output)],
    );
    expect(new Set(prices).size).toBeGreaterThan(2);
    const paid = rows.filter(({ outcome, cost }) => outcome === 'completed' && cost !== null);
    expect(paid.length).toBeGreaterThanOrEqual(completed.count + turn);
  },
);
