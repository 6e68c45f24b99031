import { sql } from 'kysely';
import { expect } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import type { Model, Simulation } from './ledger-simulation.ts';

/** Accounts without a holder. */
const internal = new Set(['revenue', 'funding', 'operator-loss']);

/** P-01, P-03, P-09: the books are what the model says. */
export async function checkBooks(database: OpenDatabase, model: Model): Promise<void> {
  const { balances, ...sums } = await readSums(database);
  const holders = [...balances].filter(([account]) => !internal.has(account));
  expect({ ...sums, balances: new Map(holders) }).toEqual(sumsOf(model));
  expect(balances.values().reduce((sum, amount) => sum + amount, 0n)).toBe(0n);
  expect(balances.get('revenue') ?? 0n).toBe(sums.cost);
}

/** P-02, P-05, P-08: the amounts spent and held on each meter, without leftovers that nobody can end. */
export async function checkMeters({ model, cluster, clock, tasks }: Simulation): Promise<void> {
  expect(model.overdrawn, 'P-02: admitted beyond a limit').toEqual([]);
  for (const [at, { money, holding }] of cluster.entries()) {
    const held = new Map<string, bigint>();
    const short = new Map<string, string>();
    for (const id of holding) {
      const terms = model.terms.get(id)!;
      if (terms.due <= clock.monotonic()) {
        holding.delete(id);
        continue;
      }
      for (const meter of terms.meters) held.set(meter, (held.get(meter) ?? 0n) + terms.held);
      for (const meter of terms.shortOn) {
        expect([meter, short.get(meter), id], 'P-05: one at a time').toEqual([
          meter,
          undefined,
          id,
        ]);
        short.set(meter, id);
      }
    }
    for (const task of tasks.open) {
      for (const meter of task.meters) held.set(meter, (held.get(meter) ?? 0n) + task.held);
    }
    for (const [meter, limit] of model.limits) {
      const state = await money.read(meter);
      if (state === null) continue;
      const spent = model.charged.get(meter) ?? 0n;
      const expected = { spentAmount: spent, heldAmount: held.get(meter) ?? 0n };
      expect([at, meter, state], 'P-02, P-08: spent and held').toEqual([at, meter, expected]);
      const most = limit + (model.overshot.get(meter) ?? 0n);
      expect(
        [meter, state.spentAmount + state.heldAmount <= most],
        'P-02: within the limit',
      ).toEqual([meter, true]);
    }
  }
}

/** P-03, P-06: no hold ends twice, and no client saw success before it was durable. */
export function checkEnds({ ended, shown, durable }: Model): void {
  expect(
    [...ended].filter(([, times]) => times !== 1),
    'P-03: ended once',
  ).toEqual([]);
  expect(
    [...shown].filter((id) => durable.get(id)?.outcome !== 'completed'),
    'P-06: shown and not durable',
  ).toEqual([]);
}

interface Charge {
  readonly id: string;
  readonly outcome: string;
  /** Null: nothing is charged. */
  readonly cost: bigint | null;
  readonly held: bigint | null;
  readonly overshoot: bigint | null;
  readonly version: string | null;
}

/** P-04, P-05, P-07, P-11, P-12: what one exchange costs. */
export function checkCharge(
  { id, outcome, cost, held, overshoot, version }: Charge,
  model: Model,
): void {
  const isOwed = outcome === 'completed' || outcome === 'client-left';
  expect([id, cost !== null], 'P-04, P-07: charged when owed').toEqual([id, isOwed]);
  expect([id, model.answered.get(id) ?? 0], 'P-07: answered once').toEqual([id, isOwed ? 1 : 0]);
  const terms = model.terms.get(id);
  const record = model.durable.get(id)!;
  if (cost === null || terms === undefined) return;
  const { tokens, usageSource } = record;
  const { price } = terms;
  const used = BigInt(tokens.input) * price.input + BigInt(tokens.output) * price.output;
  const isCertain = usageSource === 'reported';
  const expected = isCertain || used < terms.held ? used : terms.held;
  expect([id, cost, held, version], 'P-11, P-12: cost, hold and price').toEqual([
    id,
    expected,
    terms.held,
    price.version,
  ]);
  const beyond = cost > terms.held ? cost - terms.held : 0n;
  expect([id, cost >= 0n, overshoot], 'P-05: what was beyond the hold').toEqual([id, true, beyond]);
  expect([id, beyond <= terms.full - terms.held], 'P-05: no more than it was short of').toEqual([
    id,
    true,
  ]);
}

/** Every row that is there, against itself, the model, and everything it is part of. */
export async function workOut(database: OpenDatabase, model: Model): Promise<void> {
  const differences: Difference[] = [];
  await reconcile(database, {}, (difference) => differences.push(difference));
  expect(differences).toEqual([]);
  const rows = await database.kysely
    .selectFrom('usage')
    .select(['id', 'outcome', 'cost', 'held', 'overshoot', 'price_version as version'])
    .execute();
  for (const row of rows) checkCharge(row, model);
}

/** The charge of a record, as its row must have it. */
export function chargeOf({ id, outcome, charge }: ExchangeRecord): Charge {
  const amount = (text: string | undefined) => (text === undefined ? null : BigInt(text));
  return {
    id,
    outcome,
    cost: amount(charge?.cost),
    held: amount(charge?.held),
    overshoot: amount(charge?.overshoot),
    version: charge?.priceVersion ?? null,
  };
}

/** P-06, P-08: when everything has ended nothing is held, and every success that was shown is in the books. */
export async function checkTheEnd({ model, cluster }: Simulation): Promise<void> {
  for (const { money } of cluster) {
    for (const meter of model.limits.keys()) {
      const state = await money.read(meter);
      expect([meter, state?.heldAmount ?? 0n], 'P-08: nothing held').toEqual([meter, 0n]);
    }
  }
  const open = [...model.terms.keys()].filter(
    (id) => !model.ended.has(id) && !model.abandoned.has(id),
  );
  expect(open, 'P-08: holds that nobody ended').toEqual([]);
  expect(
    [...model.shown].filter((id) => !model.applied.has(id)),
    'P-06: shown and not in the books',
  ).toEqual([]);
}

/** Sums of the database that P-01, P-03 and P-09 are about. */
async function readSums({ kysely }: OpenDatabase) {
  const { rows: accounts } = await sql<{ account: string; amount: bigint }>`
    select account, sum(amount) as amount from ledger_entries group by account`.execute(kysely);
  const { rows: unbalanced } = await sql`
    select transaction_id from ledger_entries group by transaction_id having sum(amount) <> 0`.execute(
    kysely,
  );
  const meters = await kysely
    .selectFrom('spent_totals')
    .select(['meter', 'spent'])
    // A balance has a row from its first credit on.
    .where('spent', '>', 0n)
    .execute();
  const { rows: hours } = await sql<{ requests: number; cost: bigint; unbilled: number }>`
    select coalesce(sum(requests), 0) as requests, coalesce(sum(cost), 0) as cost,
      coalesce(sum(unbilled_tokens), 0) as unbilled
    from usage_hourly`.execute(kysely);
  return {
    balances: new Map(accounts.map(({ account, amount }) => [account, amount])),
    unbalanced: unbalanced.length,
    meters: new Map(meters.map(({ meter, spent }) => [meter, spent])),
    requests: hours[0]?.requests ?? 0,
    cost: hours[0]?.cost ?? 0n,
    unbilled: hours[0]?.unbilled ?? 0,
  };
}

/** The same sums of the model. */
function sumsOf({ applied, credited }: Model): Awaited<ReturnType<typeof readSums>> {
  const balances = new Map<string, bigint>(credited);
  const meters = new Map<string, bigint>();
  let cost = 0n;
  let unbilled = 0;
  for (const { charge: owed, attempts, keyId, userId, teamId } of applied.values()) {
    // An attempt that is not paid has used 16 tokens and its output.
    for (const { usage } of attempts) if (usage !== undefined) unbilled += 16 + usage.output;
    if (owed === null || owed.cost === '0') continue;
    const amount = BigInt(owed.cost);
    const account = owed.payer === 'team' ? `team:${teamId}` : `user:${userId}`;
    balances.set(account, (balances.get(account) ?? 0n) - amount);
    const { window } = owed;
    const limits =
      window === null
        ? ['quota']
        : [`daily:${window}`, `monthly:${window.slice(0, 7)}`, 'total', `member:${userId}`];
    const names = ['balance', ...limits].map((name) => `${account}:${name}`);
    for (const meter of [...names, `key:${keyId}:quota`]) {
      meters.set(meter, (meters.get(meter) ?? 0n) + amount);
    }
    cost += amount;
  }
  return { balances, unbalanced: 0, meters, requests: applied.size, cost, unbilled };
}
