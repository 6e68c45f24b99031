import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readNodeId } from '#nodes/index.ts';
import { limitOf, type Account } from './accounts.ts';
import { ask, type Answer } from './ask.ts';
import { applied, expectExact, expectSpendable } from './exactness.ts';
import { cannotAttack, openWorld, type AttackedNode, type World } from './world.ts';

/*
 * A node dies with charges in its journal that the database does not have. Its leases are freed for their age, others
 * spend them, and only then its journal comes: with the node itself, or with another one that adopts its folder.
 */

const names = ['restarted', 'adopted'] as const;
/** All of it is spent before the journal comes. */
const tight = names.map((name): Account => ({
  name: `tight-${name}`,
  limit: 'balance',
  amount: 0.8,
}));
/** Enough is left for everybody. */
const wide = names.map((name): Account => ({ name: `wide-${name}`, limit: 'balance', amount: 2 }));
const all = [...tight, ...wide];

describe.skipIf(cannotAttack)('nodes whose leases were freed before their journals came', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ accounts: all });
  }, 120_000);
  afterAll(() => world.close());

  /** Its leases are too old, and somebody has noticed. */
  const free = async ({ dataDir }: AttackedNode): Promise<void> => {
    const { kysely } = world.database;
    const node = readNodeId(dataDir);
    await sql`update lives set seen_at = seen_at - age - 1 where node = ${node}`.execute(kysely);
    const open = () =>
      kysely
        .selectFrom('lives')
        .select('id')
        .where('node', '=', node)
        .where('closed', '=', 0)
        .execute();
    await expect.poll(open, { timeout: 15_000, interval: 100 }).toEqual([]);
  };

  const askAll = (node: AttackedNode, account: Account): Promise<Answer[]> =>
    Promise.all([0, 1, 2].map(() => ask(node, account, { fault: 'delay=100' })));

  /** Nano-USD. */
  const lateOf = async ({ name }: Account): Promise<bigint> => {
    const { late } = await world.database.kysely
      .selectFrom('usage')
      .innerJoin('keys', 'keys.id', 'usage.key_id')
      .select(({ fn }) => fn.sum<bigint>('usage.late').as('late'))
      .where('keys.name', '=', name)
      .executeTakeFirstOrThrow();
    return late ?? 0n;
  };

  test(
    'charge late, whether they start again or are adopted: nothing is lost, and nobody is locked out',
    { timeout: 90_000 },
    async () => {
      const [first, second, third] = world.nodes as [AttackedNode, AttackedNode, AttackedNode];
      const answers: Answer[] = [];
      const victims = [first, second];
      for (const [at, node] of victims.entries()) {
        for (const account of [tight[at]!, wide[at]!])
          answers.push(...(await askAll(node, account)));
      }
      await applied(world);
      // Served from their leases, and known to nobody else.
      for (const [at, node] of victims.entries()) {
        node.way.cut();
        for (const account of [tight[at]!, wide[at]!]) {
          const unknown = await ask(node, account);
          expect(unknown.status).toBe(200);
          answers.push(unknown);
        }
        await node.kill();
        node.way.restore();
      }
      await Promise.all(victims.map(free));
      const living: World = { ...world, nodes: [third] };
      await expectSpendable(living, tight, answers);

      await first.start();
      await third.kill();
      await third.start(['--adopt', second.dataDir]);
      const after: World = { ...world, nodes: [first, third] };
      await applied(after);
      for (const account of all) {
        await expect
          .poll(() => lateOf(account), { timeout: 15_000, interval: 100 })
          .toBeGreaterThan(0n);
      }
      const { kysely } = world.database;
      const negative = await kysely
        .selectFrom('leases')
        .selectAll()
        .whereRef('drawn', '<', 'settled')
        .execute();
      expect(negative).toEqual([]);
      await expectSpendable(after, all, answers);
      for (const account of all) {
        // Others had spent what the late charges lay in.
        const isOver = tight.includes(account);
        const late = isOver ? await lateOf(account) : 0n;
        const most = Number(limitOf(account) + late) / 1e9;
        const own = answers.filter(({ account: name }) => name === account.name);
        const { spent } = await expectExact(after, [{ ...account, amount: most }], own);
        if (isOver) expect(spent.get(account.name)).toBeGreaterThan(limitOf(account));
      }
    },
  );
});
