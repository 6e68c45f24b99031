import { parseMultiplier, ratesOf, videoBound, type Billing, type Hold } from '#billing/index.ts';
import type { VideoDemand } from '#canonical/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import { assembleTasks } from '#tasks/create-tasks.ts';
import type { Engine } from '#tasks/engine.ts';
import type { AcceptedTask, NewTask, OpenTask, Tasks } from '#tasks/index.ts';
import { openTestDatabase, testSecrets, type Dialect } from '../database/databases.ts';
import { createFakeVendor, type FakeOptions, type FakeVendor } from './fake-vendor.ts';

export const rules = { pollInterval: 10_000, expireAfter: 86_400_000 };

/** 720P at 0.10 USD a second: 5 s hold 500 000 000. */
export const rates = ratesOf({ videoSecond: { '720P': '0.1' } });
export const demand: VideoDemand = { resolution: '720P', seconds: 5, withVideo: false };
export const heldFor5s = 500_000_000n;
export const owner = { userId: 'usr_1', protocol: 'video-synthesis' } as const;
export const meter = 'user:usr_1:balance';

export interface TasksBench {
  readonly database: OpenDatabase;
  readonly url: string;
  readonly fake: FakeVendor;
  readonly clock: { wall: number; monotonic: number };
  /** Moves both clocks. */
  pass(milliseconds: number): void;
  /** Stops all processes and forgets everything, for the next test: a database of its own would cost a second. */
  renew(): Promise<void>;
  /** Another process. */
  node(name: string, options?: NodeOptions): BenchNode;
  close(): Promise<void>;
}

export interface NodeOptions {
  readonly database?: OpenDatabase;
  readonly missingUsage?: 'estimate' | 'zero' | 'error';
  readonly channels?: readonly never[];
}

export interface BenchNode {
  readonly tasks: Tasks;
  readonly engine: Engine;
  /** What became of the holds, according to the money of this process. */
  readonly holds: string[];
  /** What its log warned of. */
  readonly warnings: string[];
  readonly ended: ExchangeRecord[];
  /** A turn with all its looks. Resolves to the number of tasks that were looked at. */
  turn(): Promise<number>;
  /** A task that waits to be submitted. */
  begin(id: string, more?: Partial<NewTask>): Promise<OpenTask>;
  /** A task that an upstream has accepted, under the id `up-<id>`. */
  submit(id: string, more?: Partial<NewTask>): Promise<OpenTask>;
}

let requests = 0;

export async function openTasksBench(
  dialect: Dialect,
  fakes: FakeOptions = {},
): Promise<TasksBench> {
  const { database, url, close } = await openTestDatabase(dialect);
  const fake = createFakeVendor(fakes);
  const clock = { wall: Date.now(), monotonic: 0 };
  let nodes: Tasks[] = [];

  async function stopAll(): Promise<void> {
    fake.onCall = async () => {};
    await Promise.all(nodes.map((tasks) => tasks.close()));
    nodes = [];
  }

  function node(name: string, options: NodeOptions = {}): BenchNode {
    const holds: string[] = [];
    const warnings: string[] = [];
    const ended: ExchangeRecord[] = [];
    const { tasks, engine } = assembleTasks(
      {
        database: options.database ?? database,
        nodeId: name,
        liveNodes: () => 1,
        billing: tellingBilling(holds),
        secrets: testSecrets,
        upstream: fake.upstream,
        clock: { now: () => clock.wall, monotonic: () => clock.monotonic },
        settings: { ...rules, missingUsage: options.missingUsage ?? 'estimate' },
        timeouts: {} as never,
        snapshot: () => ({ channels: options.channels ?? [] }),
        log: { warn: (message) => void warnings.push(message), error() {} },
        onEnded: (record) => void ended.push(record),
      },
      () => fake.vendor,
    );
    nodes.push(tasks);
    const begin = (id: string, more: Partial<NewTask> = {}) =>
      tasks.create(newTask(id, clock.wall, more));
    return {
      tasks,
      engine,
      holds,
      warnings,
      ended,
      async turn() {
        const { claimed, done } = await engine.turn();
        await done;
        return claimed;
      },
      begin,
      async submit(id, more) {
        const task = await begin(id, more);
        await tasks.accept(task, accepted(`up-${id}`, clock.wall));
        return task;
      },
    };
  }

  return {
    database,
    url,
    fake,
    clock,
    pass(milliseconds) {
      clock.wall += milliseconds;
      clock.monotonic += milliseconds;
    },
    node,
    async renew() {
      await stopAll();
      const { kysely } = database;
      for (const table of ['tasks', 'usage', 'usage_hourly', 'spent_totals'] as const) {
        await kysely.deleteFrom(table).execute();
      }
      Object.assign(fake, { mood: 'well', listMood: 'well', onCall: async () => {} });
      fake.unlisted.clear();
      fake.tasks.clear();
      fake.calls.splice(0);
    },
    async close() {
      await stopAll();
      await close();
    },
  };
}

export const accepted = (upstreamId: string, startedAt: number): AcceptedTask => ({
  upstreamId,
  channel: {
    id: 'ch_1',
    name: 'videos',
    provider: 'dashscope',
    baseUrl: 'https://upstream.test/api/v1/',
    headers: { 'X-Own': 'yes' },
  } as unknown as AcceptedTask['channel'],
  upstreamModel: 'wan',
  secret: 'upstream-secret',
  attempts: [
    {
      channel: 'videos',
      class: 'shown',
      status: 200,
      result: 'completed',
      startedAt,
      durationMs: 3,
      upstreamRequestId: null,
    },
  ],
});

export function newTask(id: string, now: number, more: Partial<NewTask> = {}): NewTask {
  const asked = more.demand ?? demand;
  const [bound] = videoBound(rates, asked);
  const isFree = more.hold === null;
  const userId = more.caller?.userId ?? owner.userId;
  return {
    id,
    protocol: 'video-synthesis',
    requestId: `req_${(requests += 1)}_${id}`,
    arrivedAt: now,
    caller: { keyId: 'key_1', userId, teamId: null, group: 'default' } as NewTask['caller'],
    model: 'demo-video',
    userAgent: 'test',
    demand: asked,
    requestMembers: {},
    hold: holdOf(id, userId, BigInt(asked.seconds) * 100_000_000n),
    bound: isFree ? null : bound,
    ...more,
  };
}

const holdOf = (id: string, userId: string, amount: bigint): Hold => ({
  id,
  payer: 'user',
  amount,
  isShort: false,
  meters: [`user:${userId}:balance`, `user:${userId}:quota`, 'key:key_1:quota'],
  window: null,
  rates,
  priceVersion: 'v1',
  multiplier: parseMultiplier('1'),
  multiplierText: '1',
  source: { meters: [], expiresAt: 0 },
  extensions: [],
  hasEnded: false,
});

/** Money that is in no lease, so that all of it is in the database. */
function tellingBilling(
  holds: string[],
): Pick<Billing, 'taskBeginning' | 'taskBegun' | 'taskEnding' | 'taskEnded'> {
  return {
    taskBeginning: ({ meters, amount }) => ({ meters, amount, lease: null }),
    taskBegun: (_, outcome) => void holds.push(outcome),
    taskEnding: async () => {},
    taskEnded: ({ heldAmount, cost }) => void holds.push(`${heldAmount} ${cost}`),
  };
}

/** What the meter of the user's balance says. */
export async function sumsOf({ kysely }: OpenDatabase, name = meter) {
  const row = await kysely
    .selectFrom('spent_totals')
    .select(['spent', 'held'])
    .where('meter', '=', name)
    .executeTakeFirst();
  return row ?? { spent: 0n, held: 0n };
}

export const rowOf = ({ kysely }: OpenDatabase, id: string) =>
  kysely.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

export const usageOf = ({ kysely }: OpenDatabase) =>
  kysely.selectFrom('usage').selectAll().orderBy('time').orderBy('id').execute();

/** Ends all leases, as time does. */
export async function endLeases({ kysely }: OpenDatabase): Promise<void> {
  await kysely
    .updateTable('tasks')
    .set({ lease_until: 0 })
    .where('lease_until', 'is not', null)
    .execute();
}
