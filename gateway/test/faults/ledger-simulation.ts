import type { KyselyPlugin } from 'kysely';
import { upsertTeam, upsertUser } from '#identity/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { isDataError, type ExchangeRecord } from '#usage/index.ts';
import { removeOldUsage } from '#usage/retention.repository.ts';
import { creditAccount, heldByTasks, spentOf, type HolderAccount } from '#ledger/index.ts';
import { change } from '../database/databases.ts';
import { team, user } from '../database/samples.ts';
import { recordAll } from '../journal/records.ts';
import { SimulatedClock } from './simulated-clock.ts';
import {
  callersOf,
  declaredPrice,
  declaredVideoPrice,
  perSecondAt,
  SimulatedNode,
  type Diary,
  type SimulatedPrice,
  videoModelAt,
} from './simulated-node.ts';
import { createSimulatedTasks, type OpenTask } from './simulated-tasks.ts';

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

/** The required content of the books, kept beside them by the simplest means. */
export interface Model extends Diary {
  readonly applied: Map<string, ExchangeRecord>;
  readonly durable: Map<string, ExchangeRecord>;
  readonly credited: Map<HolderAccount, bigint>;
  /** What was durably charged on each meter, and how much of it beyond the hold. */
  readonly charged: Map<string, bigint>;
  readonly overshot: Map<string, bigint>;
}

const day = 86_400_000;
const second = 1_000;
const nodes = 2;

/**
 * Two gateways over one database, each with accounts of its own: requests are admitted and end, batches become durable
 * or are lost in a crash, are applied, applied again in any order and by both at once; the database fails in the middle,
 * disks are full, clocks jump, prices change, credits come in, old rows go.
 */
export async function createSimulation(database: OpenDatabase, random: () => number) {
  const model: Model = {
    terms: new Map(),
    answered: new Map(),
    ended: new Map(),
    shown: new Set(),
    abandoned: new Set(),
    applied: new Map(),
    durable: new Map(),
    credited: new Map(),
    limits: new Map(),
    overdrawn: [],
    charged: new Map(),
    overshot: new Map(),
  };
  /** Everything that was ever durable: a replay may bring back any of it. */
  const history: (readonly ExchangeRecord[])[] = [];
  const failing = failAt(database);
  const clock = new SimulatedClock(Date.UTC(2026, 10, 21));
  let count = 0;
  let cutoff = 0;
  /** What the database failed with last. */
  let problem: unknown = null;

  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;

  await change(database, async (file) => {
    for (let node = 0; node < nodes; node += 1) {
      await upsertUser(file, { ...user, email: `${node}@example.com`, balance: '1' });
      await upsertTeam(file, { ...team, name: `team-${node}`, balance: '5', members: [] });
    }
  });
  const { kysely } = database;
  const users = await kysely.selectFrom('users').select('id').orderBy('email').execute();
  const teams = await kysely.selectFrom('teams').select('id').orderBy('name').execute();
  for (const { id } of users) model.credited.set(`user:${id}`, 1_000_000_000n);
  for (const { id } of teams) model.credited.set(`team:${id}`, 5_000_000_000n);
  let price = await keepNextPrice();

  /** The node's keys once it knows of every credit. */
  function callersAt(node: number) {
    const [userId, teamId] = [users[node]!.id, teams[node]!.id];
    const ofUser = { id: userId, funding: model.credited.get(`user:${userId}`)!, quota: null };
    return callersOf(node, ofUser, {
      id: teamId,
      name: `team-${node}`,
      funding: model.credited.get(`team:${teamId}`)!,
      rpm: null,
      dailyBudget: 400_000_000n,
      monthlyBudget: 4_000_000_000n,
      totalBudget: 90_000_000_000n,
      enabled: true,
      unleasedMost: null,
      timeZone: 'Asia/Shanghai',
      openWindow: null,
    });
  }

  const cluster = users.map(
    (_, node) =>
      new SimulatedNode({
        random,
        clock,
        diary: model,
        callers: callersAt(node),
        nextId: () => `req_${(count += 1)}`,
        async spent(meters) {
          if (random() < 0.05) throw new Error('the database went away');
          return spentOf(kysely, meters);
        },
        held: (meters) => heldByTasks(kysely, meters),
      }),
  );

  /** Later settings do not affect existing holds. */
  async function keepNextPrice(): Promise<SimulatedPrice> {
    const next = {
      version: `price_${(count += 1)}`,
      input: BigInt(50_000 + below(300_000)),
      output: BigInt(100_000 + below(400_000)),
    };
    await kysely
      .insertInto('price_versions')
      .values({
        id: next.version,
        model: 'm',
        price: JSON.stringify(declaredPrice(next)),
        created_at: 1,
      })
      .execute();
    await kysely
      .insertInto('price_versions')
      .values({
        id: `${next.version}v`,
        model: 'm',
        price: JSON.stringify(declaredVideoPrice(next)),
        created_at: 1,
      })
      .execute();
    return next;
  }

  const tasks = createSimulatedTasks({
    random,
    clock,
    nextId: () => `req_${(count += 1)}`,
    limits: model.limits,
    through: () => (random() < 0.2 ? failing(below(10)) : database),
    onEnded({ meters }, record, overshoot) {
      const { id, charge } = record;
      model.durable.set(id, record);
      model.applied.set(id, record);
      if (charge === null) return;
      model.answered.set(id, 1);
      for (const meter of meters) {
        add(model.charged, meter, BigInt(charge.cost));
        add(model.overshot, meter, overshoot);
      }
    },
  });
  const isOf =
    ({ callers }: SimulatedNode) =>
    (task: OpenTask) =>
      callers.some(({ keyId }) => keyId === task.caller.keyId);

  async function endTask(node: SimulatedNode): Promise<void> {
    await tasks.end(node, isOf(node));
  }

  async function commit(node: SimulatedNode): Promise<void> {
    const batch = await node.commit();
    if (batch.length > 0) history.push(batch);
    for (const record of batch) {
      model.durable.set(record.id, record);
      const { charge } = record;
      if (charge === null) continue;
      for (const meter of model.terms.get(record.id)?.meters ?? []) {
        add(model.charged, meter, BigInt(charge.cost));
        add(model.overshot, meter, BigInt(charge.overshoot));
      }
    }
  }

  /** Also done by a node after a crash: applies everything from the oldest on, then forgets what was applied. */
  async function applyJournal({ journal }: SimulatedNode): Promise<void> {
    const batches = journal.slice(0, 1 + below(3));
    if (!(await apply(batches.flat(), random() < 0.3))) return;
    // A crash between the two leaves them in the journal.
    if (random() < 0.7) journal.splice(0, batches.length);
  }

  /** The node counts again once its durable records are in the database. */
  async function crash(node: SimulatedNode): Promise<void> {
    node.crash();
    await applyInTheEnd(node.journal.splice(0).flat());
  }

  /** @returns whether it is in the database now. */
  async function apply(records: readonly ExchangeRecord[], interrupted: boolean): Promise<boolean> {
    if (records.length === 0) return false;
    const through = interrupted ? failing(below(5)) : database;
    try {
      await recordAll(through, records, { now: clock.now() });
    } catch (error) {
      if (isDataError(error)) throw error;
      problem = error;
      return false;
    }
    for (const each of records) model.applied.set(each.id, each);
    return true;
  }

  /** R-33, B-15: everything so far, many times, in any order, by two at once. */
  async function replay(): Promise<void> {
    const old = history.slice(-200).filter(() => random() < 0.3);
    const fresh = old.filter((batch) => batch.every(({ time }) => time >= cutoff));
    for (let time = below(20); time >= 0; time -= 1) {
      const order = fresh.flat().toSorted(() => random() - 0.5);
      const half = order.slice(below(order.length + 1));
      await Promise.all([applyInTheEnd(order), applyInTheEnd(half)]);
    }
    const stale = old.flat().filter(({ time }) => time < cutoff);
    for (const each of stale) await bringBack(each);
  }

  /** Like a journal that returns after longer than rows are kept. Its row still exists, or nothing is written. */
  async function bringBack(record: ExchangeRecord): Promise<void> {
    try {
      await recordAll(database, [record], { now: clock.now(), isLeftOver: true });
    } catch (error) {
      if (!isDataError(error)) throw error;
    }
  }

  /** PostgreSQL may ask two concurrent appliers to retry, and they do. */
  async function applyInTheEnd(records: readonly ExchangeRecord[]): Promise<void> {
    if (records.length === 0) return;
    for (let tries = 0; !(await apply(records, false)); tries += 1) {
      if (tries > 100) throw new Error('it cannot be applied', { cause: problem });
    }
  }

  async function credit(): Promise<void> {
    const account = pick([...model.credited.keys()]);
    const amount = BigInt(1 + below(1e9)) * (random() < 0.3 ? -1n : 1n);
    const kind = amount > 0n ? 'top-up' : 'correction';
    await change(database, (file) =>
      creditAccount(
        { ...file, now: clock.now() },
        { account, amount, kind, actor: 'sim', reason: 'x' },
      ),
    );
    model.credited.set(account, (model.credited.get(account) ?? 0n) + amount);
    for (const [at, node] of cluster.entries()) node.callers = callersAt(at);
  }

  /** Only what no journal can bring back is old enough: retention is days, a journal is empty within minutes. */
  async function retention(): Promise<void> {
    const waiting = cluster.flatMap(({ journal }) => journal.flat()).map(({ time }) => time);
    const begun = cluster.flatMap(({ times }) => times);
    const oldest = Math.min(clock.now() - 2 * day, ...waiting, ...begun);
    cutoff = Math.max(cutoff, oldest);
    await removeOldUsage(database, cutoff, 1 + below(50));
  }

  /** Requests that would outlive it have failed, or are forgotten; and no end waits for the disk that long. */
  async function wait(milliseconds: number): Promise<void> {
    for (const node of cluster) {
      node.reachDeadline(clock.monotonic() + milliseconds);
      await commit(node);
    }
    clock.advance(milliseconds);
  }

  const steps: readonly (readonly [weight: number, step: () => Promise<unknown> | void])[] = [
    [40, () => pick(cluster).begin(price)],
    [35, () => pick(cluster).finish()],
    [20, () => commit(pick(cluster))],
    [8, () => tasks.begin(pick(cluster), videoModelAt(price), perSecondAt(price))],
    [8, () => endTask(pick(cluster))],
    [1, () => pick(cluster).fillDisk()],
    [2, () => crash(pick(cluster))],
    [20, () => applyJournal(pick(cluster))],
    [2, replay],
    [6, () => wait(second * below(400))],
    [2, () => wait(second * below(day / second))],
    // Backwards, too, though never so far that rows from before the retention would be made.
    [2, () => clock.step(Math.max(clock.now() - below(day), cutoff))],
    [5, credit],
    [1, async () => (price = await keepNextPrice())],
    [1, retention],
  ];
  const weights = steps.reduce((sum, [weight]) => sum + weight, 0);

  return {
    model,
    cluster,
    clock,
    tasks,
    async step(): Promise<void> {
      let left = random() * weights;
      const chosen = steps.find(([weight]) => (left -= weight) < 0);
      await chosen?.[1]();
    },
    /** Every request has ended, and everything durable is applied. */
    async settle(): Promise<void> {
      await wait(1_000 * second);
      for (const node of cluster) await applyInTheEnd(node.journal.splice(0).flat());
      while (tasks.open.length > 0) for (const node of cluster) await endTask(node);
    },
  };
}

export type Simulation = Awaited<ReturnType<typeof createSimulation>>;

function add(sums: Map<string, bigint>, name: string, amount: bigint): void {
  sums.set(name, (sums.get(name) ?? 0n) + amount);
}

/** The same database, failing after `count` statements: the transaction must leave nothing. */
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
