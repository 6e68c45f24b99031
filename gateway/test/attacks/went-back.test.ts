import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Account } from './accounts.ts';
import { ask, askMuch, forMilliseconds, type Answer } from './ask.ts';
import { assertAdmitted, applied, expectExact, expectSpendable } from './exactness.ts';
import { cannotAttack, openWorld, type World } from './world.ts';

/* A failover to a standby that lacks the last transactions: an older copy of PostgreSQL's folder takes its place. */

const small: Account = { name: 'small', limit: 'balance', amount: 1.2 };
const rich: Account = { name: 'rich', limit: 'none', amount: 0 };
const accounts = [small, rich];

describe.skipIf(cannotAttack)('a PostgreSQL that went back in time', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ accounts, nodes: 2 });
  }, 60_000);
  afterAll(() => world.close());

  const load = (milliseconds: number): Promise<Answer[]> =>
    askMuch({ nodes: world.nodes, accounts, clients: 4, continues: forMilliseconds(milliseconds) });

  /** PostgreSQL ends and starts again, with this done in between. */
  const restart = async (between: () => void): Promise<void> => {
    await applied(world);
    await world.postgres.kill();
    between();
    await world.postgres.start();
  };

  test(
    'gets its rows again from the nodes, and no money is granted twice',
    { timeout: 90_000 },
    async () => {
      const answers = await load(500);
      await restart(() => world.postgres.keepCopy());
      answers.push(...(await assertAdmitted(world, rich)));
      answers.push(...(await load(500)));
      // Open while it happens.
      const open = Promise.all(
        world.nodes.map((node) => ask(node, small, { fault: 'delay=5000' })),
      );
      await wait(500);
      await restart(() => world.postgres.restoreCopy());
      // Who waits for leases that others state anew is told to come again.
      answers.push(...(await assertAdmitted(world, rich)));
      answers.push(...(await open));
      await expectSpendable(world, [small], answers);
      await expectExact(world, accounts, answers);
    },
  );
});
