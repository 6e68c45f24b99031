import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import type { TaskTable } from '#database/index.ts';
import { usageRemovedBefore } from '#database/revisions.ts';
import { chargedOf, meterNames } from '../meter-names.ts';
import type { Check, Difference } from './difference.ts';

const pageSize = 1_000;
const finalStates: readonly string[] = ['succeeded', 'failed', 'expired'];

/** Checks that the state of every task, its usage row and what its meters hold agree. */
export async function* checkTasks(db: Kysely<Database>): Check {
  let count = 0;
  for (let after = ''; ;) {
    const tasks = await pageOf(db, after);
    count += tasks.length;
    for (const task of tasks) yield* checkTask(task, await usageRemovedBefore(db));
    const last = tasks.at(-1);
    if (last === undefined || tasks.length < pageSize) break;
    after = last.id;
  }
  yield* checkHolds(db);
  return count;
}

type CheckedTask = Pick<TaskTable, 'id' | 'state' | 'time' | 'terms' | 'held' | 'quantity'> & {
  readonly row: string | null;
  readonly outcome: string | null;
  readonly cost: bigint | null;
  readonly units: string | null;
};

/** One statement reads a task and its row. */
function pageOf(db: Kysely<Database>, after: string): Promise<CheckedTask[]> {
  return db
    .selectFrom('tasks')
    .leftJoin('usage', 'usage.id', 'tasks.request_id')
    .select([
      'tasks.id',
      'tasks.state',
      'tasks.time',
      'tasks.terms',
      'tasks.held',
      'tasks.quantity',
      'usage.id as row',
      'usage.outcome',
      'usage.cost',
      'usage.units',
    ])
    .where('tasks.id', '>', after)
    .orderBy('tasks.id')
    .limit(pageSize)
    .execute();
}

function checkTask(task: CheckedTask, removedBefore: number): Difference[] {
  const { id: subject, state, row, outcome, cost } = task;
  const differences: Difference[] = [];
  const compare = (expected: string, found: string) => {
    if (expected !== found) differences.push({ check: 'task', subject, expected, found });
  };
  const isFinal = finalStates.includes(state);
  const mayBeRemoved = isFinal && row === null && task.time < removedBefore;
  if (!mayBeRemoved) {
    const foundText = row === null ? 'no usage row' : 'a usage row';
    compare(
      `${state} with ${isFinal ? 'a usage row' : 'no usage row'}`,
      `${state} with ${foundText}`,
    );
  }
  if (isFinal && row !== null) {
    const isCharged = state === 'succeeded';
    compare(`a row that is ${isCharged ? 'completed' : 'failed'}`, `a row that is ${outcome}`);
    const isFree = task.terms === null || !isCharged;
    if (isFree) compare('no cost', (cost ?? 0n) === 0n ? 'no cost' : `a cost of ${cost}`);
    else compare('a cost', cost === null ? 'none' : 'a cost');
    if (isCharged) compare(`a quantity of ${task.quantity}`, `a quantity of ${madeIn(task)}`);
  }
  compare(task.terms === null ? 'no hold' : 'a hold', task.held === null ? 'no hold' : 'a hold');
  return differences;
}

/** What the row says was made; a row without units made nothing. */
function madeIn({ units }: CheckedTask): number {
  const { video_ms, video_tokens } = JSON.parse(units ?? '{}') as Record<string, number>;
  return video_ms ?? video_tokens ?? 0;
}

interface Side {
  /** Null: a meter. */
  readonly terms: string | null;
  readonly key_id: string;
  readonly user_id: string;
  readonly team_id: string | null;
  readonly meter: string;
  readonly held: bigint;
}

/** Checks that every meter holds what its open tasks hold: one statement, one state. */
async function* checkHolds(db: Kysely<Database>): AsyncGenerator<Difference> {
  const { rows } = await sql<Side>`
    select terms, key_id, user_id, team_id, '' as meter, held from tasks
    where terms is not null and state not in (${sql.join(finalStates)})
    union all
    select null, '', '', null, meter, held from spent_totals where held <> 0`.execute(db);
  const expectedSums = new Map<string, bigint>();
  const foundSums = new Map<string, bigint>();
  for (const side of rows) {
    if (side.terms === null) foundSums.set(side.meter, side.held);
    else for (const meter of metersOf(side)) add(expectedSums, meter, side.held);
  }
  for (const meter of new Set([...expectedSums.keys(), ...foundSums.keys()])) {
    const [sum, held] = [expectedSums.get(meter) ?? 0n, foundSums.get(meter) ?? 0n];
    if (sum === held) continue;
    yield { check: 'task', subject: meter, expected: `${sum} held`, found: `${held} held` };
  }
}

function metersOf({ terms, ...row }: Side): readonly string[] {
  const { payer, window } = JSON.parse(terms ?? '{}') as { payer: string; window: string | null };
  const holder = chargedOf({ ...row, payer, budget_window: window });
  return holder === null ? [] : meterNames(holder);
}

function add(sums: Map<string, bigint>, name: string, amount: bigint): void {
  sums.set(name, (sums.get(name) ?? 0n) + amount);
}
