import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { reconcile, type Difference } from '#ledger/index.ts';
import { floorOf, limitOf, type Account } from './accounts.ts';
import { ask, type Answer } from './ask.ts';
import type { AttackedNode, World } from './world.ts';

/** Gateways that share a database. */
export interface Attacked extends Pick<World, 'database'> {
  readonly nodes: readonly Pick<AttackedNode, 'name' | 'url'>[];
}

interface Charge {
  readonly id: string;
  readonly account: string;
  readonly cost: bigint;
  readonly overshoot: bigint;
}

const depthOf = async ({ url }: Pick<AttackedNode, 'url'>): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^sluice_journal_depth (\d+)$/m.exec(text)?.[1]);
};

/** Waits until every node has written its rows to the database. */
export async function applied({ nodes }: Attacked): Promise<void> {
  for (const node of nodes) {
    await expect
      .poll(() => depthOf(node).catch(() => null), { timeout: 30_000, interval: 50 })
      .toBe(0);
  }
}

async function chargesOf({ database }: Attacked, accounts: readonly Account[]): Promise<Charge[]> {
  const rows = await database.kysely
    .selectFrom('usage')
    .innerJoin('keys', 'keys.id', 'usage.key_id')
    .select(['usage.id', 'keys.name as account', 'usage.cost', 'usage.overshoot'])
    .where('usage.cost', 'is not', null)
    .where(
      'keys.name',
      'in',
      accounts.map(({ name }) => name),
    )
    .orderBy('usage.time')
    .execute();
  return rows.map(({ cost, overshoot, ...row }) => ({
    ...row,
    cost: cost ?? 0n,
    overshoot: overshoot ?? 0n,
  }));
}

/** Nano-USD, of the rows in the database. */
export async function spentBy(world: Attacked, account: Account): Promise<bigint> {
  return sum((await chargesOf(world, [account])).map(({ cost }) => cost));
}

export const sum = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((total, each) => total + each, 0n);

export interface Exactness {
  /** Nano-USD by account. */
  readonly spent: ReadonlyMap<string, bigint>;
}

/**
 * What must be true whatever was attacked, once everything runs again:
 *
 * - every response that came whole has one row, at the price of what it says was used;
 * - no more is charged than that, but for requests of which no client saw the end;
 * - no limit is exceeded by more than what its last request, which held all that was left, cost above its hold;
 * - the books agree.
 *
 * @param answers all requests for these accounts
 */
export async function expectExact(
  world: Attacked,
  accounts: readonly Account[],
  answers: readonly Answer[],
): Promise<Exactness> {
  await applied(world);
  const charges = await chargesOf(world, accounts);
  const charged = new Map(charges.map((charge) => [charge.id, charge]));
  expect(charged.size).toBe(charges.length);

  const whole = answers.filter(({ cost }) => cost !== null);
  const wrong = whole.filter(({ id, cost }) => charged.get(id ?? '')?.cost !== cost);
  expect(wrong).toEqual([]);
  const seen = new Set(whole.map(({ id }) => id));
  const unseen = charges.filter(({ id }) => !seen.has(id));
  const broken = answers.filter(
    ({ status, cost }) => status === 0 || (status === 200 && cost === null),
  );
  expect(unseen.length).toBeLessThanOrEqual(broken.length);

  const spent = new Map<string, bigint>();
  for (const account of accounts) {
    const own = charges.filter((charge) => charge.account === account.name);
    const total = sum(own.map(({ cost }) => cost));
    spent.set(account.name, total);
    if (account.limit === 'none') continue;
    const last = own.reduce((most, { overshoot }) => (overshoot > most ? overshoot : most), 0n);
    const excess = total - limitOf(account) - last;
    expect([account, excess > 0n ? excess : 0n]).toEqual([account, 0n]);
  }

  const differences: Difference[] = [];
  await reconcile(world.database, {}, (difference) => void differences.push(difference));
  expect(differences).toEqual([]);
  return { spent };
}

/**
 * Waits until every node admits again: for a second it does not ask a database that failed.
 * @param rich an account without a limit
 * @returns the answers, also those before
 */
export async function assertAdmitted(
  { nodes }: Pick<Attacked, 'nodes'>,
  rich: Account,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const node of nodes) {
    const status = async () => {
      const answer = await ask(node, rich);
      answers.push(answer);
      return answer.status;
    };
    await expect.poll(status, { timeout: 30_000, interval: 250 }).toBe(200);
  }
  return answers;
}

const mostUnanswered = 5;

/**
 * Nobody is locked out: what is left of each limit is admitted to whoever asks alone, at any node, until no more than
 * the floor is left.
 */
export async function expectSpendable(
  world: Attacked,
  accounts: readonly Account[],
  answers: Answer[],
): Promise<void> {
  await applied(world);
  // A node remembers for a tenth of a second what it was refused.
  await wait(150);
  for (const account of accounts) {
    if (account.limit === 'none') continue;
    let unanswered = 0;
    for (let turn = 0; turn < 1_000; turn += 1) {
      const answer = await ask(world.nodes[turn % world.nodes.length]!, account);
      answers.push(answer);
      if (answer.status === 200) continue;
      // On a machine with other work, a node may not say in time whether it has idle money. Then it is asked again.
      if (answer.status === 503 && (unanswered += 1) <= mostUnanswered) {
        await wait(500);
        continue;
      }
      expect([account.name, answer.status]).toEqual([
        account.name,
        account.limit === 'daily' ? 429 : 402,
      ]);
      break;
    }
    await applied(world);
    const total = await spentBy(world, account);
    expect([account.name, limitOf(account) - total < floorOf(account)]).toEqual([
      account.name,
      true,
    ]);
  }
}

/** Whoever has money enough may have to wait for a part that is lost, but never hears that the money is gone. */
export function expectPatience(accounts: readonly Account[], answers: readonly Answer[]): void {
  const rich = new Set(accounts.filter(({ limit }) => limit === 'none').map(({ name }) => name));
  const refused = answers.filter(
    ({ account, status }) => rich.has(account) && status !== 200 && status !== 503 && status !== 0,
  );
  expect(refused).toEqual([]);
  const impatient = answers.filter(
    ({ status, retryAfter }) => status === 503 && retryAfter === null,
  );
  expect(impatient).toEqual([]);
}
