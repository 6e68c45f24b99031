import { sql, type KyselyPlugin } from 'kysely';
import { upsertTeam, upsertUser } from '../../src/access/index.ts';
import type { OpenDatabase } from '../../src/database/index.ts';
import type { ExchangeRecord } from '../../src/journal/index.ts';
import { toLine } from '../../src/journal/record-line.ts';
import { removeOldUsage } from '../../src/journal/retention.repository.ts';
import { isDataError, writeUsage } from '../../src/journal/usage-writer.repository.ts';
import { creditAccount, type HolderAccount } from '../../src/ledger/index.ts';
import { change } from '../database/databases.ts';
import { team, user } from '../database/samples.ts';
import { charge, keepPrice, record, unpaidAttempt } from '../journal/records.ts';

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One node: what it has not made durable yet, and what it has and did not apply for certain. */
interface Node {
  open: ExchangeRecord[];
  journal: ExchangeRecord[][];
}

/** What must be in the books: kept beside them by the simplest means. */
export interface Model {
  readonly applied: Map<string, ExchangeRecord>;
  readonly credited: Map<HolderAccount, bigint>;
}

const day = 86_400_000;
const nodes = 2;

/**
 * Two nodes over one database: exchanges end, batches become durable or are lost in a crash, are applied, applied
 * again in any order and by both at once; the database fails in the middle, clocks jump, credits come in, old rows go.
 */
export async function createSimulation(database: OpenDatabase, random: () => number) {
  const model: Model = { applied: new Map(), credited: new Map() };
  const cluster: Node[] = Array.from({ length: nodes }, () => ({ open: [], journal: [] }));
  /** Everything that was ever durable: a replay may bring back any of it. */
  const history: ExchangeRecord[][] = [];
  const failing = failAt(database);
  let clock = Date.UTC(2026, 10, 21);
  let count = 0;
  let cutoff = 0;

  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;

  await change(database, async (file) => {
    for (const email of ['a@example.com', 'b@example.com']) {
      await upsertUser(file, { ...user, email });
    }
    await upsertTeam(file, { ...team, members: [] });
  });
  await keepPrice(database);
  const { kysely } = database;
  const users = (await kysely.selectFrom('users').select('id').execute()).map(({ id }) => id);
  const teams = (await kysely.selectFrom('teams').select('id').execute()).map(({ id }) => id);
  for (const id of users) model.credited.set(`user:${id}`, 10_000_000_000n);
  for (const id of teams) model.credited.set(`team:${id}`, 100_000_000_000n);

  function exchange(): void {
    const userId = pick(users);
    const teamId = random() < 0.4 ? pick(teams) : null;
    const keyId = `key_${below(3)}`;
    const time = clock + below(7_200_000);
    const cost = random() < 0.1 ? 0n : BigInt(below(2 ** 40));
    const held = random() < 0.2 ? cost / 2n : cost;
    const owed = charge(cost, {
      payer: teamId === null ? 'user' : 'team',
      held: String(held),
      overshoot: String(cost - held),
      window: teamId === null ? null : new Date(time).toISOString().slice(0, 10),
    });
    const shared = { keyId, userId, teamId, time, model: `model-${below(2)}` };
    const ending = random();
    const unpaid = random() < 0.2 ? [unpaidAttempt(`spare-${below(2)}`, below(1_000))] : [];
    const { attempts } = record('');
    pick(cluster).open.push(
      record(`req_${(count += 1)}`, {
        ...shared,
        attempts: [...unpaid, ...attempts],
        ...(ending < 0.7 ? { charge: owed } : ending < 0.85 ? { outcome: 'failed' } : {}),
        ...(ending > 0.95 ? { attempts: [], channel: null, outcome: 'refused' } : {}),
      }),
    );
  }

  /** The group commit: from here on these exchanges may not be lost. */
  function commit({ open, journal }: Node): void {
    if (open.length === 0) return;
    const batch = open.splice(0);
    journal.push(batch);
    history.push(batch);
  }

  /** What a node does after a crash, too: everything from the oldest on, then it forgets what was applied. */
  async function applyJournal(node: Node): Promise<void> {
    const batches = node.journal.slice(0, 1 + below(3));
    if (!(await apply(batches.flat(), random() < 0.3))) return;
    // A crash between the two leaves them in the journal.
    if (random() < 0.7) node.journal.splice(0, batches.length);
  }

  /** @returns whether it is in the database now. */
  async function apply(records: readonly ExchangeRecord[], interrupted: boolean): Promise<boolean> {
    if (records.length === 0) return false;
    const through = interrupted ? failing(below(5)) : database;
    try {
      await writeUsage(through, records.map(toLine).join(','), clock);
    } catch (error) {
      if (isDataError(error)) throw error;
      return false;
    }
    for (const each of records) model.applied.set(each.id, each);
    return true;
  }

  /** R-33, B-15: everything so far, many times, in any order, by two at once. */
  async function replay(): Promise<void> {
    const old = history.filter(() => random() < 0.3);
    const fresh = old.filter((batch) => batch.every(({ time }) => time >= cutoff));
    for (let time = below(20); time >= 0; time -= 1) {
      const order = fresh.flat().toSorted(() => random() - 0.5);
      const half = order.slice(below(order.length + 1));
      await Promise.all([applyInTheEnd(order), applyInTheEnd(half)]);
    }
  }

  /** Two appliers that meet on PostgreSQL may be told to try again, and do. */
  async function applyInTheEnd(records: readonly ExchangeRecord[]): Promise<void> {
    if (records.length === 0) return;
    while (!(await apply(records, false)));
  }

  async function credit(): Promise<void> {
    const account = pick([...model.credited.keys()]);
    const amount = BigInt(1 + below(1e9)) * (random() < 0.3 ? -1n : 1n);
    const kind = amount > 0n ? 'top-up' : 'correction';
    await change(database, (file) =>
      creditAccount({ ...file, now: clock }, { account, amount, kind, actor: 'sim', reason: 'x' }),
    );
    model.credited.set(account, (model.credited.get(account) ?? 0n) + amount);
  }

  /** Only what no journal can bring back is old enough: retention is days, a journal is empty within minutes. */
  async function retention(): Promise<void> {
    const waiting = cluster.flatMap(({ open, journal }) => [...open, ...journal.flat()]);
    const oldest = Math.min(clock - 2 * day, ...waiting.map(({ time }) => time));
    cutoff = Math.max(cutoff, oldest);
    await removeOldUsage(database, cutoff, 1 + below(50));
  }

  const steps: readonly (readonly [weight: number, step: () => Promise<void> | void])[] = [
    [40, exchange],
    [20, () => commit(pick(cluster))],
    [3, () => void pick(cluster).open.splice(0)],
    [20, () => applyJournal(pick(cluster))],
    [2, replay],
    [3, () => void (clock += below(day))],
    // Backwards, too, though never so far that rows from before the retention would be made.
    [2, () => void (clock = Math.max(clock - below(day), cutoff))],
    [2, credit],
    [1, retention],
  ];
  const weights = steps.reduce((sum, [weight]) => sum + weight, 0);

  return {
    model,
    async step(): Promise<void> {
      let left = random() * weights;
      const chosen = steps.find(([weight]) => (left -= weight) < 0);
      await chosen?.[1]();
    },
    /** Everything durable is applied. */
    async settle(): Promise<void> {
      for (const node of cluster) {
        commit(node);
        await applyInTheEnd(node.journal.splice(0).flat());
      }
    },
  };
}

/** The same database, which fails after so many statements: of a transaction nothing may be left then. */
function failAt(database: OpenDatabase) {
  return (statements: number): OpenDatabase => {
    let left = statements;
    const plugin: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (left-- <= 0) throw new Error('the database went away');
        return result;
      },
    };
    return { ...database, kysely: database.kysely.withPlugin(plugin) };
  };
}

/** Sums of the database that P-01, P-03 and P-09 are about. */
export async function readSums({ kysely }: OpenDatabase) {
  const { rows: accounts } = await sql<{ account: string; amount: bigint }>`
    select account, sum(amount) as amount from ledger_entries group by account`.execute(kysely);
  const { rows: unbalanced } = await sql`
    select transaction_id from ledger_entries group by transaction_id having sum(amount) <> 0`.execute(
    kysely,
  );
  const meters = await kysely.selectFrom('spent_totals').select(['meter', 'spent']).execute();
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
export function sumsOf({ applied, credited }: Model): Awaited<ReturnType<typeof readSums>> {
  const balances = new Map<string, bigint>(credited);
  const meters = new Map<string, bigint>();
  let cost = 0n;
  let unbilled = 0;
  for (const { charge: owed, attempts, keyId, userId, teamId } of applied.values()) {
    // An attempt has used 16 tokens and its output.
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
