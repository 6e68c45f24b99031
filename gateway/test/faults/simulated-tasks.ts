import { expect } from 'vitest';
import {
  chargeOfTask,
  metersOf,
  termsOfTask,
  videoBound,
  type Billing,
  type Hold,
  type MovedHold,
  type TaskTerms,
} from '#billing/index.ts';
import type { Model } from '#catalogue/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { Caller } from '#identity/index.ts';
import { holdForTask, releaseTaskHold } from '#leases/index.ts';
import { linesOf, recordUsage, type ExchangeRecord } from '#usage/index.ts';
import { record } from '../journal/records.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** What a task must cost, kept beside the books. */
export interface OpenTask {
  readonly id: string;
  readonly requestId: string;
  readonly caller: Caller;
  readonly time: number;
  readonly terms: TaskTerms;
  readonly meters: readonly string[];
  readonly held: bigint;
  readonly seconds: number;
  /** Nano-USD. */
  readonly perSecond: bigint;
}

/** The process that does something about a task. */
export interface TaskNode {
  readonly billing: Billing;
  readonly callers: readonly Caller[];
}

export interface SimulatedTasksOptions {
  readonly random: () => number;
  readonly clock: SimulatedClock;
  readonly nextId: () => string;
  /** The highest limit of each meter when something was held on it. */
  readonly limits: Map<string, bigint>;
  /** The database, perhaps one that fails after some statements. */
  readonly through: () => OpenDatabase;
  /** Called when a task has ended. @param overshoot nano-USD */
  readonly onEnded: (task: OpenTask, record: ExchangeRecord, overshoot: bigint) => void;
}

/** Tasks of the simulated nodes: their transactions are the real ones, and their upstreams are dice. */
export function createSimulatedTasks(options: SimulatedTasksOptions) {
  const { random, clock, nextId, limits, through, onEnded } = options;
  const open: OpenTask[] = [];
  const below = (limit: number) => Math.floor(random() * limit);

  async function insert({ kysely }: OpenDatabase, task: OpenTask, kept: MovedHold): Promise<void> {
    const { id, requestId, caller, time, terms, held } = task;
    await kysely.transaction().execute(async (trx) => {
      const row = {
        id,
        protocol: 'video-synthesis',
        request_id: requestId,
        time,
        key_id: caller.keyId,
        user_id: caller.userId,
        team_id: caller.teamId,
        group_name: 'default',
        model: 'm',
        demand: '{}',
        asked: '{}',
        terms: JSON.stringify(terms),
        held,
        state: 'queued',
        members: '{}',
        attempts: '[]',
        created_at: time,
        updated_at: time,
        fence: 0,
        failed_looks: 0,
        late_looks: 0,
        hidden: 0,
      };
      await trx.insertInto('tasks').values(row).execute();
      await holdForTask(trx, kept);
    });
  }

  /** The usage row, and the end of the hold. Throws if the database fails; then nothing has happened. */
  async function store(
    { kysely }: OpenDatabase,
    { id, meters, held }: OpenTask,
    row: ExchangeRecord,
    quantity: number | null,
  ): Promise<void> {
    await kysely.transaction().execute(async (trx) => {
      const state = quantity === null ? 'failed' : 'succeeded';
      await trx.updateTable('tasks').set({ state, quantity }).where('id', '=', id).execute();
      await recordUsage(trx, linesOf([row]), { now: clock.now() });
      await releaseTaskHold(trx, { meters, amount: held });
    });
  }

  async function admit({ billing }: TaskNode, caller: Caller, model: Model, seconds: number) {
    const bound = (rates: Hold['rates']) =>
      videoBound(rates, { resolution: '720P', seconds, withVideo: false });
    const id = nextId();
    const expiresAt = clock.now() + 600_000;
    const group = { name: 'default', priceMultiplier: '1' };
    const hold = await billing.hold({ id, caller, model, group, bound, expiresAt, isExact: true });
    if (hold === null) throw new Error('nothing here is free');
    return hold;
  }

  let ended = 0;
  return {
    open: open as readonly OpenTask[],
    get ended() {
      return ended;
    },

    /** @param model priced by the second */
    async begin(node: TaskNode, model: Model, perSecond: bigint): Promise<void> {
      const caller = node.callers[below(node.callers.length)]!;
      const seconds = 3 + below(13);
      const counted = metersOf(caller, clock.now()).meters;
      let hold: Hold;
      try {
        hold = await admit(node, caller, model, seconds);
      } catch (error) {
        if (error instanceof GatewayError) return;
        throw error;
      }
      expect([hold.id, hold.amount], 'all of the bound').toEqual([
        hold.id,
        BigInt(seconds) * perSecond,
      ]);
      for (const { name, limit } of counted) {
        const before = limits.get(name) ?? 0n;
        limits.set(name, limit > before ? limit : before);
      }
      const [line] = videoBound(hold.rates, { resolution: '720P', seconds, withVideo: false });
      const task: OpenTask = {
        id: `task_${hold.id}`,
        requestId: hold.id,
        caller,
        time: clock.now(),
        terms: termsOfTask(hold, line),
        meters: hold.meters,
        held: hold.amount,
        seconds,
        perSecond,
      };
      const kept = node.billing.taskBeginning(hold);
      try {
        await insert(through(), task, kept);
      } catch {
        node.billing.taskBegun(hold, 'rolled-back');
        return;
      }
      node.billing.taskBegun(hold, 'committed');
      open.push(task);
    },

    /** One task ends, whatever end it has, and whatever prices are now. */
    async end({ billing }: TaskNode, isOwn: (task: OpenTask) => boolean): Promise<void> {
      const own = open.filter(isOwn);
      const task = own[below(own.length)];
      if (task === undefined) return;
      const { id, requestId, caller, time, terms, meters, held, seconds, perSecond } = task;
      const hasFailed = random() < 0.3;
      const made = below(seconds * 3) + (random() < 0.1 ? seconds * 10 : 0);
      const usage = { quantity: made * 1_000, isImplausible: false };
      const { charge, quantity } = chargeOfTask(terms, 'video-synthesis', usage, 'zero');
      const expected = made > seconds * 10 ? held : BigInt(made) * perSecond;
      expect([requestId, charge.cost], 'the price of the submit').toEqual([
        requestId,
        String(expected),
      ]);
      const row = record(requestId, {
        time,
        keyId: caller.keyId,
        userId: caller.userId,
        teamId: caller.teamId,
        outcome: hasFailed ? 'failed' : 'completed',
        attempts: [],
        charge: hasFailed ? null : charge,
        usageSource: made > seconds * 10 ? 'quarantined' : 'reported',
        units: hasFailed ? { task: id } : { video_ms: quantity, task: id },
      });
      try {
        await billing.taskEnding(meters);
        await store(through(), task, row, hasFailed ? null : quantity);
      } catch {
        return;
      }
      const cost = hasFailed ? 0n : expected;
      billing.taskEnded({ meters, heldAmount: held, cost });
      open.splice(open.indexOf(task), 1);
      ended += 1;
      onEnded(task, row, cost > held ? cost - held : 0n);
    },
  };
}
