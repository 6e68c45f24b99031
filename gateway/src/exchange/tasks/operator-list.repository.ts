import {
  type ExpressionBuilder,
  type ExpressionWrapper,
  type Kysely,
  sql,
  type SqlBool,
} from 'kysely';
import { formatUsd, type Database, type TaskTable } from '#database/index.ts';
import { type AttemptRecord, decimalOf } from '#usage/index.ts';
import { readRow } from './task-row.ts';

/** A task as the operator sees it. Times are RFC 3339, amounts decimal text in USD. */
export interface TaskEntry {
  readonly id: string;
  /** The `x-request-id` of the submit, and the id of the usage row. */
  readonly request: string;
  readonly time: string;
  /** E-mail address, or the id if the user no longer exists. */
  readonly user: string;
  readonly team: string | null;
  readonly key: string;
  readonly model: string;
  readonly state: string;
  /** Null: no upstream has accepted it. */
  readonly channel: string | null;
  /** For the vendor's support. Clients never see it. */
  readonly upstream_id: string | null;
  /** While it is open; null: it is free. */
  readonly held: string | null;
  /** Null: it is open, or nothing was charged. */
  readonly cost: string | null;
  /** What a unit costs, as it was when the task was made; null: it is free. */
  readonly price: { readonly part: string; readonly price: string } | null;
  readonly looked: string | null;
  readonly failed_looks: number;
  readonly ended: string | null;
  /** Milliseconds or tokens that were made after it had expired, for which the operator pays; null: nothing. */
  readonly lost: number | null;
}

/** A task with what is known of its course. */
export interface TaskDetail extends TaskEntry {
  readonly protocol: string;
  readonly group: string;
  /** The group's factor on the price; null: it is free. */
  readonly multiplier: string | null;
  readonly payer: 'user' | 'team' | null;
  readonly demand: {
    readonly resolution: string;
    readonly seconds: number;
    readonly with_video: boolean;
  };
  readonly attempts: readonly AttemptRecord[];
  readonly upstream_model: string | null;
  /** When an upstream had accepted it. */
  readonly accepted: string | null;
  /** The last change that its owner could see. */
  readonly updated: string;
  /** Looks after it had expired. */
  readonly late_looks: number;
  readonly failure: { readonly kind: string; readonly code: string | null } | null;
  /** What was charged for, in milliseconds or tokens; null: nothing. */
  readonly quantity: number | null;
}

export const taskKinds = ['open', 'ended', 'lost'] as const;
/** `lost`: they were made after they had expired. */
export type TaskKind = (typeof taskKinds)[number];

/** Whose tasks somebody may see; all of them without a user. */
export interface TaskScope {
  readonly userId?: string | undefined;
  /** Teams whose tasks are seen besides. */
  readonly teamIds?: readonly string[] | undefined;
}

export interface TaskFilter extends TaskScope {
  readonly kind?: TaskKind;
  /** E-mail address or id. */
  readonly user?: string;
  /** As clients wrote it. */
  readonly model?: string;
  readonly limit: number;
  /** Only tasks behind this one. */
  readonly after?: { readonly createdAt: number; readonly id: string };
}

type Condition = (
  eb: ExpressionBuilder<Database, 'tasks'>,
) => ExpressionWrapper<Database, 'tasks', SqlBool>;

const conditions: Readonly<Record<TaskKind, Condition>> = {
  open: (eb) => eb('tasks.ended_at', 'is', null),
  ended: (eb) => eb('tasks.ended_at', 'is not', null),
  lost: (eb) => eb('tasks.lost_quantity', 'is not', null),
};

/** The newest first, and how many match. */
export async function listTasks(
  db: Kysely<Database>,
  { kind, limit, after, ...filter }: TaskFilter,
): Promise<{ readonly data: readonly TaskEntry[]; readonly total: number }> {
  let query = tasksOf(db, filter);
  if (kind !== undefined) query = query.where(conditions[kind]);
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  if (after !== undefined) {
    query = query.where((eb) =>
      eb.or([
        eb('tasks.created_at', '<', after.createdAt),
        eb.and([eb('tasks.created_at', '=', after.createdAt), eb('tasks.id', '>', after.id)]),
      ]),
    );
  }
  const rows = await withNames(query)
    .orderBy('tasks.created_at', 'desc')
    .orderBy('tasks.id')
    .limit(limit)
    .execute();
  return { data: rows.map(entryOf), total };
}

/** How many tasks of each kind a filter leaves. */
export async function countTasks(
  db: Kysely<Database>,
  filter: Omit<TaskFilter, 'kind' | 'limit' | 'after'>,
): Promise<Readonly<Record<TaskKind, number>>> {
  return tasksOf(db, filter)
    .select(({ fn }) => [
      sql<number>`count(*) - count(tasks.ended_at)`.as('open'),
      fn.count<number>('tasks.ended_at').as('ended'),
      fn.count<number>('tasks.lost_quantity').as('lost'),
    ])
    .executeTakeFirstOrThrow();
}

/** One task; null: there is none, or it is the business of others. */
export async function findTask(
  db: Kysely<Database>,
  id: string,
  scope: TaskScope,
): Promise<TaskDetail | null> {
  const row = await withNames(tasksOf(db, scope).where('tasks.id', '=', id)).executeTakeFirst();
  if (row === undefined) return null;
  const { protocol, demand, terms, attempts, failure } = readRow(row);
  return {
    ...entryOf(row),
    protocol,
    group: row.group_name,
    multiplier: terms?.multiplier ?? null,
    payer: terms?.payer ?? null,
    demand: {
      resolution: demand.resolution,
      seconds: demand.seconds,
      with_video: demand.withVideo,
    },
    attempts,
    upstream_model: row.upstream_model,
    accepted: row.accepted_at === null ? null : timeOf(row.accepted_at),
    updated: timeOf(row.updated_at),
    late_looks: row.late_looks,
    failure,
    quantity: row.quantity,
  };
}

function tasksOf(
  db: Kysely<Database>,
  { userId, teamIds = [], user, model }: Omit<TaskFilter, 'kind' | 'limit' | 'after'>,
) {
  let query = db
    .selectFrom('tasks')
    .leftJoin('users', 'users.id', 'tasks.user_id')
    .leftJoin('teams', 'teams.id', 'tasks.team_id')
    .leftJoin('keys', 'keys.id', 'tasks.key_id')
    .leftJoin('usage', 'usage.id', 'tasks.request_id');
  if (userId !== undefined) {
    query = query.where((eb) =>
      eb.or([
        eb('tasks.user_id', '=', userId),
        ...(teamIds.length === 0 ? [] : [eb('tasks.team_id', 'in', teamIds)]),
      ]),
    );
  }
  if (model !== undefined) query = query.where('tasks.model', '=', model);
  if (user !== undefined) {
    query = query.where((eb) =>
      eb.or([eb('users.email', '=', user.toLowerCase()), eb('tasks.user_id', '=', user)]),
    );
  }
  return query;
}

const withNames = (query: ReturnType<typeof tasksOf>) =>
  query
    .selectAll('tasks')
    .select([
      'users.email as user_email',
      'teams.name as team_name',
      'keys.name as key_name',
      'usage.cost as cost',
    ]);

type NamedRow = TaskTable & {
  readonly user_email: string | null;
  readonly team_name: string | null;
  readonly key_name: string | null;
  readonly cost: bigint | null;
};

function entryOf(row: NamedRow): TaskEntry {
  const { terms } = readRow(row);
  return {
    id: row.id,
    request: row.request_id,
    time: timeOf(row.created_at),
    user: row.user_email ?? row.user_id,
    team: row.team_name ?? row.team_id,
    key: row.key_name ?? row.key_id,
    model: row.model,
    state: row.state,
    channel: row.channel,
    upstream_id: row.upstream_id,
    held: row.held === null || row.ended_at !== null ? null : formatUsd(row.held),
    cost: row.ended_at === null || row.cost === null ? null : formatUsd(row.cost),
    price: terms === null ? null : { part: terms.rate.part, price: decimalOf(terms.rate.text) },
    looked: row.looked_at === null ? null : timeOf(row.looked_at),
    failed_looks: row.failed_looks,
    ended: row.ended_at === null ? null : timeOf(row.ended_at),
    lost: row.lost_quantity,
  };
}

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();
