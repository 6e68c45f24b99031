import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loops } from '../faults/nodes.ts';
import type { Account } from './accounts.ts';
import { ask, askMuch, forMilliseconds, heldPerRequest } from './ask.ts';
import {
  assertAdmitted,
  applied,
  expectExact,
  expectPatience,
  expectSpendable,
} from './exactness.ts';
import { cannotAttack, openWorld, type World } from './world.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

/*
 * The servers that nodes share are paused, killed, put back in time, emptied, read-only or cut off. Limits on money do not
 * depend on Redis at all. Without PostgreSQL, nodes serve what they have leased, and never more.
 */

const attackFor = loops > 1 ? 20_000 : 1_200;

interface Attack {
  readonly name: string;
  /** Lasts until `continues` is false. */
  readonly run: (world: World, continues: () => boolean) => Promise<void>;
}

const attacks: readonly Attack[] = [
  {
    name: 'Redis paused 90 ms of every 400 ms',
    async run({ redis }, continues) {
      while (continues()) {
        redis.freeze();
        await wait(90);
        redis.thaw();
        await wait(310);
      }
    },
  },
  {
    name: 'Redis killed, and back from an old snapshot',
    async run({ redis }, continues) {
      await redis.command('SAVE');
      while (continues()) {
        await wait(600);
        await redis.stop();
        await redis.start();
      }
    },
  },
  {
    name: 'Redis emptied',
    async run({ redis }, continues) {
      while (continues()) {
        await redis.command('FLUSHALL');
        await wait(100);
      }
    },
  },
  {
    name: 'Redis evicting',
    async run({ redis }, continues) {
      await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
      const memory = String(await redis.command('INFO', 'memory'));
      const used = Number(/used_memory:(\d+)/.exec(memory)![1]);
      await redis.command('CONFIG', 'SET', 'maxmemory', String(used + 400_000));
      for (let at = 0; continues(); at += 1) {
        await redis.command('SET', `other-${at % 100}`, 'x'.repeat(20_000));
        await wait(5);
      }
      await redis.command('CONFIG', 'SET', 'maxmemory', '0');
      await redis.command('FLUSHALL');
    },
  },
  {
    name: 'PostgreSQL paused for moments',
    async run({ postgres }, continues) {
      while (continues()) {
        await wait(200);
        postgres.freeze();
        await wait(random() * 800);
        postgres.thaw();
      }
    },
  },
  {
    name: 'PostgreSQL killed and restarted, without commits that wait for the disk',
    async run({ postgres }, continues) {
      while (continues()) {
        await wait(300 + random() * 700);
        await postgres.kill();
        await postgres.start();
      }
    },
  },
  {
    name: 'PostgreSQL read-only for moments',
    async run({ postgres }, continues) {
      const allow = async (writes: boolean) => {
        const setting = writes ? 'off' : 'on';
        await postgres.query(`alter system set default_transaction_read_only = ${setting}`);
        await postgres.query('select pg_reload_conf()');
      };
      while (continues()) {
        await wait(300);
        await allow(false);
        await wait(400);
        await allow(true);
      }
    },
  },
  {
    name: 'PostgreSQL with replies that are lost',
    async run({ nodes }, continues) {
      while (continues()) {
        const { way } = nodes[Math.floor(random() * nodes.length)]!;
        way.mute();
        await wait(random() * 30);
        way.restore();
        await wait(random() * 200);
      }
    },
  },
  {
    name: 'PostgreSQL with connections that are cut',
    async run({ postgres }, continues) {
      while (continues()) {
        await postgres.query(`
          select pg_terminate_backend(pid) from pg_stat_activity
          where pid <> pg_backend_pid() and random() < 0.3 and application_name like 'sluice%'`);
        await wait(50);
      }
    },
  },
];

/** Each attack has limits of its own, which the load exhausts. */
const accountsOf = (at: number): readonly Account[] => [
  { name: `balance-${at}`, limit: 'balance', amount: 1.5 },
  { name: `quota-${at}`, limit: 'quota', amount: 1.5 },
  { name: `daily-${at}`, limit: 'daily', amount: 1.5 },
  { name: `rich-${at}`, limit: 'none', amount: 0 },
];

const atOnce = 4;
/** Room for so many requests at the same time, to the nano-USD. */
const full: Account = {
  name: 'full',
  limit: 'quota',
  amount: (atOnce * Number(heldPerRequest)) / 1e9,
};

describe.skipIf(cannotAttack)('three nodes', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({
      accounts: [full, ...attacks.flatMap((_, at) => accountsOf(at))],
      // What is not waited for is long lost when the server is killed.
      postgresSettings: ['synchronous_commit=off', 'wal_writer_delay=10s'],
    });
  }, 120_000);
  afterAll(() => world.close());

  test(
    'what PostgreSQL has leased survives its crash, also if commits need not wait for the disk',
    { timeout: 60_000 },
    async () => {
      const [first, second] = world.nodes;
      const asked = world.place.simulator.requests().length;
      const askAll = (node: World['nodes'][0], fault: string) =>
        Promise.all(Array.from({ length: atOnce }, () => ask(node, full, { fault })));
      // Under way until the other node has asked.
      const underWay = askAll(first!, 'delay=8000');
      await expect
        .poll(() => world.place.simulator.requests().length, { interval: 20 })
        .toBe(asked + atOnce);
      await world.postgres.kill();
      await world.postgres.start();
      const others = await askAll(second!, '');
      const answers = [...others, ...(await underWay)];
      expect(others.map(({ status }) => status)).not.toContain(200);
      await expectSpendable(world, [full], answers);
      await expectExact(world, [full], answers);
    },
  );

  test.for(attacks.map((attack, at) => [attack.name, attack, at] as const))(
    'L-10 P-15 %s: no limit on money is exceeded, and nobody is locked out',
    { timeout: 60_000 + attackFor * 2 },
    async ([, { run }, at]) => {
      const accounts = accountsOf(at);
      const continues = forMilliseconds(attackFor);
      const [answers] = await Promise.all([
        askMuch({ nodes: world.nodes, accounts, clients: 8, continues }),
        run(world, continues),
      ]);
      expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(3);
      expectPatience(accounts, answers);
      await applied(world);
      const rich = accounts.find(({ limit }) => limit === 'none');
      answers.push(...(await assertAdmitted(world, rich!)));
      await expectSpendable(world, accounts, answers);
      await expectExact(world, accounts, answers);
    },
  );
});
