import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import type { Account } from './accounts.ts';
import { askMuch, forMilliseconds, type Answer } from './ask.ts';
import { expectExact, expectPatience, expectSpendable } from './exactness.ts';
import { cannotAttack, openWorld, type World } from './world.ts';

/* What a company's gateway may see on a bad day. `npm run test:crowd` lets it last for ten minutes. */

const seconds = Number(process.env['SLUICE_CROWD_SECONDS'] ?? 60);
const keys = Number(process.env['SLUICE_CROWD_KEYS'] ?? 500);

const exhausted = Array.from({ length: 12 }, (_, at): Account => ({
  name: `exhausted-${at}`,
  limit: 'balance',
  amount: 0.5,
}));
const others = Array.from({ length: keys }, (_, at): Account => ({
  name: `key-${at}`,
  limit: 'none',
  amount: 0,
  rpm: 6_000,
}));

async function flap({ redis }: World, continues: () => boolean): Promise<void> {
  while (continues()) {
    redis.freeze();
    await wait(90);
    redis.thaw();
    await wait(310);
  }
}

/** Commands on leases of all nodes. */
async function commands({ database }: World): Promise<number> {
  const { rows } = await sql<{ number: number }>`
    select coalesce(sum(number), 0)::bigint as number from lives`.execute(database.kysely);
  return rows[0]!.number;
}

function figures(answers: readonly Answer[], from: Account[]) {
  const names = new Set(from.map(({ name }) => name));
  const own = answers.filter(({ account }) => names.has(account));
  const byStatus: Record<string, number> = {};
  for (const { status } of own) byStatus[status] = (byStatus[status] ?? 0) + 1;
  const times = own.filter(({ status }) => status === 200).map(({ milliseconds }) => milliseconds);
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0);
  return { requests: own.length, byStatus, ms: { p50: at(0.5), p99: at(0.99), most: at(0.9999) } };
}

// Shorter attacks of each kind are in other files.
test.skipIf(cannotAttack)(
  `L-10 P-15 three nodes, ${keys} keys, 12 exhausted balances, a Redis that flaps, ${seconds} seconds: every limit holds`,
  { timeout: 180_000 + seconds * 2_000 },
  async () => {
    const accounts = [...exhausted, ...others];
    const world = await openWorld({ accounts });
    onTestFinished(() => world.close());
    const { nodes } = world;
    const continues = forMilliseconds(seconds * 1_000);
    const [of, ofExhausted] = await Promise.all([
      askMuch({ nodes, accounts: others, clients: 6, continues }),
      askMuch({ nodes, accounts: exhausted, clients: 6, continues }),
      flap(world, continues),
    ]);
    const answers = [...of, ...ofExhausted];
    const drawn = await commands(world);
    console.log('others', JSON.stringify(figures(answers, others)));
    console.log('exhausted', JSON.stringify(figures(answers, exhausted)));
    console.log('commands', drawn, 'requests per second', Math.round(answers.length / seconds));
    expect(answers.length).toBeGreaterThan(seconds * 10);
    expectPatience(accounts, answers);
    await expectSpendable(world, exhausted, answers);
    await expectExact(world, accounts, answers);
  },
);
