import {
  createBilling,
  chargeOfTask,
  termsOfTask,
  videoBound,
  type Billing,
} from '#billing/index.ts';
import type { Model } from '#catalogue/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Caller } from '#identity/index.ts';
import {
  closeLives,
  createPostgresAuthority,
  holdForTask,
  releaseTaskHold,
  type KeptHold,
} from '#leases/index.ts';
import { heldByTasks, reconcile, spentOf, type Difference } from '#ledger/index.ts';
import { createMemoryMoney, leaseRules, type Money } from '#limits/index.ts';
import { LeasedMoney } from '#limits/leases/leased-money.ts';
import { linesOf, recordUsage } from '#usage/index.ts';
import type { Dialect } from '../database/databases.ts';
import { record } from '../journal/records.ts';

/*
 * Tasks as transactions on the books: what an engine does, without upstreams, so that it can be killed between any two
 * statements.
 */

export const usd = 1_000_000_000n;
const ageMs = 600_000;

/** Where a process dies. */
export type Death = 'held' | 'kept' | 'committed' | 'never';

export interface Ledger {
  readonly database: OpenDatabase;
  readonly dialect: Dialect;
  readonly url: string;
  readonly caller: Caller;
}

/** A task that is in the database. */
export interface LedgerTask {
  readonly id: string;
  readonly requestId: string;
  readonly meters: readonly string[];
  readonly amount: bigint;
}

/** One process. Its price is 1 USD per second. */
export interface LedgerNode {
  readonly money: Money;
  readonly billing: Billing;
  readonly lives: string[];
  readonly clock: { skipped: number };
  /** @returns null if it died before the task was in the database. @throws the refusal */
  submit(seconds: number, death?: Death): Promise<LedgerTask | null>;
  /** @param seconds made; null: it failed */
  end(task: LedgerTask, seconds: number | null): Promise<void>;
  close(): Promise<void>;
}

const model = {
  id: 'demo-video-1',
  type: 'video',
  price: { videoSecond: { '720P': '1' } },
  priceVersion: 'price_1',
} as unknown as Model;
const group = { name: 'default', priceMultiplier: '1' };

let count = 0;
const fresh = (kind: string): string => `${kind}_${(count += 1)}`;

export async function keepVideoPrice({ database }: Ledger): Promise<void> {
  const price = JSON.stringify(model.price);
  await database.kysely
    .insertInto('price_versions')
    .values({ id: 'price_1', model: model.id, price, created_at: 1 })
    .execute();
}

function moneyOf({ database, dialect }: Ledger, lives: string[], clock: { skipped: number }) {
  const now = Date.now;
  const monotonic = () => performance.now() + clock.skipped;
  const { kysely } = database;
  if (dialect === 'sqlite') {
    const spent = (meters: readonly string[]) => spentOf(kysely, meters);
    return createMemoryMoney({
      now,
      monotonic,
      spentSource: spent,
      heldSource: (meters) => heldByTasks(kysely, meters),
    });
  }
  const rules = { ...leaseRules, ageMs, share: 500n };
  return new LeasedMoney({
    authority: createPostgresAuthority({ database, node: fresh('node'), rules }),
    ageMs,
    reserveMs: 60_000,
    unleasedMost: 0n,
    liveNodes: () => 1,
    newLife() {
      lives.push(fresh('life'));
      return lives.at(-1)!;
    },
    replay: async () => {},
    onEnded() {},
    now,
    monotonic,
    appliedUntil: () => -Infinity,
    peers: null,
    log: { info() {}, warn() {}, error() {} },
  });
}

export function startNode(ledger: Ledger): LedgerNode {
  const { database, caller } = ledger;
  const { kysely } = database;
  const lives: string[] = [];
  const clock = { skipped: 0 };
  const money = moneyOf(ledger, lives, clock);
  const billing = createBilling({ money, now: Date.now });

  const insert = (task: LedgerTask, kept: KeptHold, terms: string) =>
    kysely.transaction().execute(async (trx) => {
      await trx
        .insertInto('tasks')
        .values({
          id: task.id,
          protocol: 'video-synthesis',
          request_id: task.requestId,
          time: Date.now(),
          key_id: caller.keyId,
          user_id: caller.userId,
          team_id: caller.teamId,
          group_name: 'default',
          model: model.id,
          demand: '{}',
          asked: '{}',
          terms,
          held: task.amount,
          state: 'queued',
          members: '{}',
          attempts: '[]',
          created_at: Date.now(),
          updated_at: Date.now(),
          fence: 0,
          failed_looks: 0,
          late_looks: 0,
          hidden: 0,
        })
        .execute();
      await holdForTask(trx, kept);
    });

  return {
    money,
    billing,
    lives,
    clock,
    async submit(seconds, death = 'never') {
      const requestId = fresh('req');
      const demand = { resolution: '720P', seconds, withVideo: false } as const;
      const bound = (rates: Parameters<typeof videoBound>[0]) => videoBound(rates, demand);
      const expiresAt = Date.now() + 60_000;
      const order = { id: requestId, caller, model, group, bound, expiresAt, isExact: true };
      const hold = (await billing.hold(order))!;
      if (death === 'held') return null;
      const kept = billing.taskBeginning(hold);
      if (death === 'kept') return null;
      const { meters, amount } = kept;
      const task = { id: fresh('task'), requestId, meters, amount };
      const [line] = videoBound(hold.rates, demand);
      try {
        await insert(task, kept, JSON.stringify(termsOfTask(hold, line)));
      } catch (error) {
        billing.taskBegun(hold, 'rolled-back');
        throw error;
      }
      if (death !== 'committed') billing.taskBegun(hold, 'committed');
      return task;
    },
    async end(task, seconds) {
      await billing.taskEnding(task.meters);
      const cost = await kysely.transaction().execute(async (trx) => {
        const { terms, held } = await trx
          .selectFrom('tasks')
          .select(['terms', 'held'])
          .where('id', '=', task.id)
          .executeTakeFirstOrThrow();
        const usage = { quantity: seconds === null ? null : seconds * 1_000, isImplausible: false };
        const { charge, quantity } = chargeOfTask(
          JSON.parse(terms!) as Parameters<typeof chargeOfTask>[0],
          'video-synthesis',
          usage,
          'zero',
        );
        await trx
          .updateTable('tasks')
          .set(
            seconds === null
              ? { state: 'failed', failure: '{"kind":"failed","code":null}' }
              : { state: 'succeeded', quantity },
          )
          .where('id', '=', task.id)
          .execute();
        const owed = seconds === null ? null : charge;
        const row = record(task.requestId, {
          time: Date.now(),
          keyId: caller.keyId,
          userId: caller.userId,
          teamId: caller.teamId,
          outcome: owed === null ? 'failed' : 'completed',
          charge: owed,
          units: owed === null ? { task: task.id } : { video_ms: quantity, task: task.id },
        });
        await recordUsage(trx, linesOf([row]));
        await releaseTaskHold(trx, { meters: task.meters, amount: held! });
        return owed === null ? 0n : BigInt(owed.cost);
      });
      billing.taskEnded({ meters: task.meters, heldAmount: task.amount, cost });
    },
    close: () => money.close(),
  };
}

/** The process has died: its folder proves it. */
export async function bury({ database, dialect }: Ledger, node: LedgerNode): Promise<void> {
  if (dialect === 'postgres') await closeLives(database, node.lives);
}

export async function differences({ database }: Ledger): Promise<Difference[]> {
  const found: Difference[] = [];
  await reconcile(database, {}, (difference) => found.push(difference));
  return found;
}

/** The name of the error with which a submit was refused. */
export async function refusalOf(submitted: Promise<unknown>): Promise<string | null> {
  try {
    await submitted;
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error.errorName;
    throw error;
  }
}
