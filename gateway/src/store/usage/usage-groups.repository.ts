import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '#database/schema.ts';
import { isPostgres, shownKeyName } from '#database/expressions.ts';
import { rowHours } from '#database/row-hours.ts';
import {
  addSums,
  dailyDimensions,
  hourlyDimensions,
  hourlySums,
  type HourlySums,
} from '#database/usage-hourly.ts';
import {
  hasWord,
  nameConditions,
  namesClients,
  namesPersons,
  rangeConditions,
  type RangeFilters,
} from './conditions.repository.ts';
import {
  cut,
  runsOf,
  splitAtHours,
  timeDimensions,
  wholeDays,
  type Bucket,
  type TimeDimension,
} from './time-cuts.ts';

export const nameDimensions = ['model', 'channel', 'key', 'user', 'team', 'client'] as const;
export type NameDimension = (typeof nameDimensions)[number];
export type Dimension = NameDimension | TimeDimension;

/** What groups are ordered by, the highest first. */
export const metrics = [
  'cost',
  'requests',
  'failed',
  'refused',
  'tokens',
  'input',
  'output',
] as const;
export type Metric = (typeof metrics)[number];

/** The cost is nano-USD. */
export type Sums = Readonly<HourlySums>;

export interface Group extends Sums {
  /** One for each dimension: a name or an id, empty for none; null: all that are not among the first. */
  readonly names: readonly (string | null)[];
}

export interface Grouped {
  readonly total: Sums;
  readonly groups: readonly Group[];
  /** The parts of the range, if one of the dimensions is a time; also those without requests. */
  readonly buckets: readonly Bucket[] | null;
  /** For each dimension: the number of names beyond the first ones. */
  readonly rest: readonly number[];
}

export interface GroupQuestion extends RangeFilters {
  /** One or two, at most one of them a time. */
  readonly by: readonly Dimension[];
  readonly metric: Metric;
  /** The number of names that have a group of their own; the others share one. */
  readonly first: number;
  /** An IANA name: days and months are cut there. */
  readonly timeZone: string;
}

type Db = Kysely<Database>;
type Source = RawBuilder<unknown>;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Below this, sums by the day save nothing. */
const manyDays = 3 * dayMs;

/** Sums in groups. Every name dimension shows the first names by the metric, and all others together. */
export async function groupUsage(db: Db, question: GroupQuestion): Promise<Grouped> {
  const { by } = question;
  const time = timeDimensions.find((dimension) => by.includes(dimension)) ?? null;
  const firsts: Firsts[] = [];
  for (const dimension of by) firsts.push(await firstsOf(db, question, dimension));
  const rest = restOf(firsts);
  const [only] = firsts;
  if (by.length === 1 && only?.groups !== undefined && rest[0] === 0) {
    return { total: totalOf(only.groups), groups: only.groups, buckets: null, rest };
  }
  const { from, to, timeZone } = question;
  const buckets = time === null ? null : cut(time, from, to, timeZone);
  const isCutInUtc = time !== 'hour' && areCutInUtc(buckets ?? [], from);
  const persons = personsOver(question, time);
  if (persons !== null && buckets !== null) {
    const [at, names] = [by.indexOf(persons), firsts[by.indexOf(persons)]?.names ?? []];
    const groups = await firstAndRest(db, question, {
      persons,
      names,
      time: by[1 - at],
      buckets,
    });
    return {
      total: totalOf(groups),
      groups: groups.toSorted(inOrder(question, firsts)),
      buckets,
      rest,
    };
  }
  const source = await sourceOf(db, question, time === null || isCutInUtc);
  const places = by.map((dimension, at) =>
    isTime(dimension)
      ? timePlace(dimension, buckets ?? [])
      : foldedPlace(dimension, firsts[at]?.names ?? []),
  );
  const sumGroups = await sumsBy(db, source, places);
  const groups = mergeGroups(
    sumGroups.map(({ names, ...sums }) => ({
      ...sums,
      names: names.map((name, at) =>
        isTime(by[at]) && buckets !== null
          ? nameOf(buckets, Number(name))
          : (name as string | null),
      ),
    })),
  );
  return {
    total: totalOf(groups),
    groups: groups.toSorted(inOrder(question, firsts)),
    buckets,
    rest,
  };
}

/** Requests and their cost (nano-USD) of each person or team, by its id. Reads nothing else, so it takes a third of the time. */
export async function costsBy(
  db: Db,
  dimension: 'user' | 'team',
  filter: RangeFilters,
): Promise<ReadonlyMap<string, Pick<Sums, 'requests' | 'cost'>>> {
  const source = await sourceOf(db, { ...filter, by: [dimension] }, true, ['requests', 'cost']);
  const { rows } = await sql<{ name: string } & Pick<Sums, 'requests' | 'cost'>>`
    select ${columnOf(dimension)} as name, sum(requests) as requests, sum(cost) as cost
    from ${source} group by 1`.execute(db);
  return new Map(rows.map(({ name, ...sums }) => [name, sums]));
}

/** What `countNames` counts; `countKinds` counts the rest. */
const countedTogether = [
  ['model', 'channel'],
  ['key', 'user', 'team'],
] as const satisfies readonly (readonly NameDimension[])[];
export const countedDimensions = countedTogether.flat();
export type CountedDimension = (typeof countedDimensions)[number];

/** How many requests each name has, by the dimension; the most frequent first. Empty: none. */
export type NameCounts = Readonly<
  Record<CountedDimension, readonly { readonly name: string; readonly requests: number }[]>
>;

/** Counts all names at once: one reading of the sums serves several dimensions. */
export async function countNames(db: Db, filter: RangeFilters): Promise<NameCounts> {
  const countsByDimension: [
    CountedDimension,
    { readonly name: string; readonly requests: number }[],
  ][] = [];
  for (const by of countedTogether) {
    const source = await sourceOf(db, { ...filter, by }, true);
    const columns = by.map((name) => sql`${columnOf(name)} as ${sql.ref(name)}`);
    const { rows } = await sql<Record<CountedDimension, string> & { readonly requests: number }>`
      select ${sql.join(columns)}, sum(requests) as requests from ${source}
      group by ${sql.join(by.map((_, at) => sql.lit(at + 1)))}`.execute(db);
    for (const dimension of by) {
      const counts = new Map<string, number>();
      for (const { [dimension]: name, requests } of rows) {
        counts.set(name, (counts.get(name) ?? 0) + requests);
      }
      const sortedCounts = [...counts].toSorted(
        ([a, left], [b, right]) => right - left || (a < b ? -1 : 1),
      );
      countsByDimension.push([
        dimension,
        sortedCounts.map(([name, requests]) => ({ name, requests })),
      ]);
    }
  }
  return Object.fromEntries(countsByDimension) as unknown as NameCounts;
}

/** The persons that are told apart over time, if neither is narrowed to some of them; else null. */
function personsOver(question: GroupQuestion, time: TimeDimension | null) {
  const { by } = question;
  const person = (['key', 'user', 'team'] as const).find((name) => by.includes(name)) ?? null;
  const isNarrowed = namesPersons(question) || namesClients(question);
  return time === null || isNarrowed ? null : person;
}

/**
 * A few persons over time: their own hours, which an index finds, and for all others what is left of the sums without
 * persons. Everybody's hours would be as many rows as there are requests.
 */
async function firstAndRest(
  db: Db,
  question: GroupQuestion,
  cuts: {
    readonly persons: 'key' | 'user' | 'team';
    readonly names: readonly string[];
    readonly time: Dimension | undefined;
    readonly buckets: readonly Bucket[];
  },
): Promise<Group[]> {
  const { persons, names, time, buckets } = cuts;
  if (!isTime(time)) return [];
  const { by } = question;
  const place = timePlace(time, buckets);
  const named = (name: string | null, at: unknown): (string | null)[] =>
    by.map((dimension) => (dimension === persons ? name : nameOf(buckets, Number(at))));
  const column = columnOf(persons);
  const hours = await rowsOf(db, 'usage_hourly', question, [
    sql`${column} in (${sql.join(names.length === 0 ? [''] : names)})`,
  ]);
  const own = mergeGroups(
    (await sumsBy(db, hours, [column, place])).map(({ names: [name, at], ...sums }) => ({
      ...sums,
      names: named(name as string, at),
    })),
  );
  const models = await rowsOf(db, 'usage_hourly_models', question);
  const all = mergeGroups(
    (await sumsBy(db, models, [place])).map(({ names: [at], ...sums }) => ({
      ...sums,
      names: named(null, at),
    })),
  );
  const timeAt = by.indexOf(persons) === 0 ? 1 : 0;
  const rest = all.map((group) => {
    const known = own.filter(({ names: parts }) => parts[timeAt] === group.names[timeAt]);
    return addSums(group, negative(totalOf(known)));
  });
  // Sums of failed attempts belong to no request.
  const isLeft = (group: Group): boolean => hourlySums.some((name) => Number(group[name]) !== 0);
  return [...own, ...rest.filter(isLeft)];
}

function negative(sums: Sums): Sums {
  return Object.fromEntries(
    hourlySums.map((name) => [name, name === 'cost' ? -sums.cost : -sums[name]]),
  ) as Sums;
}

/** Whether the days or months of a range are those of UTC. @param from where the range begins */
export function areCutInUtc(buckets: readonly Bucket[], from: number): boolean {
  return buckets.every((bucket) => bucket.from % dayMs === 0 || bucket.from === from);
}

/** The first names of a dimension by a metric. */
export interface Firsts {
  /** In order; absent for times. */
  readonly names?: readonly string[];
  readonly groups?: readonly Group[];
  /** How many names there are. */
  readonly all: number;
}

/** For each dimension: the number of names beyond the first ones. */
export function restOf(firsts: readonly Firsts[]): number[] {
  return firsts.map(({ names, all }) => Math.max(0, all - (names?.length ?? all)));
}

export async function firstsOf(
  db: Db,
  question: Pick<GroupQuestion, 'metric' | 'first'> & RangeFilters,
  dimension: Dimension,
): Promise<Firsts> {
  if (isTime(dimension)) return { all: 0 };
  const source = await sourceOf(db, { ...question, by: [dimension] }, true);
  const metric = metricPlaces[question.metric];
  const { rows } = await sql<Record<string, unknown>>`
    select ${columnOf(dimension)} as name, ${sumsOf}, count(*) over () as names
    from ${source} group by 1 order by ${metric} desc, 1 limit ${question.first}`.execute(db);
  const groups = rows.map(({ name, names: _names, ...sums }) => ({
    ...(sums as unknown as Sums),
    names: [name as string],
  }));
  return {
    names: groups.flatMap(({ names }) => names),
    groups,
    all: Number(rows[0]?.['names'] ?? 0),
  };
}

/** What rows of sums add up to, by what stands in one or two places. */
export async function sumsBy(db: Db, source: Source, places: readonly Source[]) {
  const selectedNames = places.map((place, at) => sql`${place} as ${sql.ref(`name${at}`)}`);
  const numbers = places.map((_, at) => sql.lit(at + 1));
  const { rows } = await sql<Record<string, unknown>>`
    select ${sql.join(selectedNames)}, ${sumsOf} from ${source} group by ${sql.join(numbers)}`.execute(
    db,
  );
  return rows.map(({ name0, name1, ...sums }) => ({
    ...(sums as unknown as Sums),
    names: [name0, name1].slice(0, places.length),
  }));
}

/**
 * The table with the fewest rows that has what is asked for: without persons, without models, by the day, or by the hour.
 * @param isOfDays whether whole days in UTC are never cut
 */
async function sourceOf(
  db: Db,
  question: Pick<GroupQuestion, 'by'> & RangeFilters,
  isOfDays: boolean,
  sums: readonly (keyof HourlySums)[] = hourlySums,
): Promise<Source> {
  const { from, to, by, model, channel, beginnings, terms } = question;
  const isOne = namesPersons({ ...question, beginnings: {}, terms: [] });
  const needs = (...names: readonly Dimension[]) => names.some((name) => by.includes(name));
  const needsPersons = namesPersons(question) || needs('key', 'user', 'team');
  if (namesClients(question) || needs('client')) {
    const needsModels =
      needs('model', 'channel') ||
      hasWord(terms, ['model', 'channel']) ||
      [model, channel, beginnings?.model, beginnings?.channel].some((name) => name !== undefined);
    const table = needsPersons || needsModels ? 'usage_hourly' : 'usage_kinds';
    return rowsOf(db, table, question);
  }
  if (!needsPersons) return rowsOf(db, 'usage_hourly_models', question);
  // Indexes find the hours of one person or team.
  if (isOne || !isOfDays || to - from < manyDays) {
    return rowsOf(db, 'usage_hourly', question);
  }
  const days = wholeDays(question);
  const columns = sql.join([
    ...by.filter((dimension) => !isTime(dimension)).map((dimension) => columnOf(dimension)),
    ...sums.map((name) => sql.ref(name)),
  ]);
  const before = await rowsOf(db, 'usage_hourly', { ...question, to: days.from });
  const within = await rowsOf(db, 'usage_daily', { ...question, ...days });
  const after = await rowsOf(db, 'usage_hourly', { ...question, from: days.to });
  return sql`(
    select hour, ${columns} from ${before} union all
    select day, ${columns} from ${within} union all
    select hour, ${columns} from ${after}) as sums`;
}

/** The rows of a table of sums, and for the parts of hours at the ends of the range what their single requests add. */
export async function rowsOf(
  db: Db,
  table: keyof typeof dimensionsOf,
  filter: RangeFilters,
  more: readonly Source[] = [],
): Promise<Source> {
  const { hours, edges } = splitAtHours(filter);
  const columns = [table === 'usage_daily' ? 'day' : 'hour', ...dimensionsOf[table], ...hourlySums];
  const names = sql.join(columns.map((name) => sql.ref(name)));
  const kept = [await rangeConditions(db, table, { ...filter, ...hours }), ...more];
  const sums = sql`select ${names} from ${sql.table(table)} where ${sql.join(kept, sql` and `)}`;
  if (edges.length === 0) return sql`(${sums}) as sums`;
  const edgeRows = rowHours(isPostgres(db), edges, 'all attempts');
  const conditions = [sql`1 = 1`, ...(await nameConditions(db, 'edges', filter)), ...more];
  return sql`(${sums} union all
    select ${names} from ${edgeRows} as edges where ${sql.join(conditions, sql` and `)}) as sums`;
}

/** Of days only whole ones are read, so they have no edges. */
const dimensionsOf = {
  usage_hourly: hourlyDimensions,
  usage_hourly_models: ['model', 'channel'],
  usage_daily: dailyDimensions,
  usage_kinds: ['client'],
} as const;

const sumsOf = sql.join(
  hourlySums.map((name) => sql`coalesce(sum(${sql.ref(name)}), 0) as ${sql.ref(name)}`),
);

const tokens = sql`sum(input_tokens + cache_read_tokens + cache_write_tokens
  + cache_write_1h_tokens + output_tokens)`;
const metricPlaces: Readonly<Record<Metric, Source>> = {
  cost: sql`sum(cost)`,
  requests: sql`sum(requests)`,
  failed: sql`sum(failed - refused)`,
  refused: sql`sum(refused)`,
  tokens,
  input: sql`sum(input_tokens + cache_read_tokens + cache_write_tokens + cache_write_1h_tokens)`,
  output: sql`sum(output_tokens)`,
};

function columnOf(dimension: Dimension): Source {
  const isPerson = dimension === 'key' || dimension === 'user' || dimension === 'team';
  return sql.ref(isPerson ? `${dimension}_id` : dimension);
}

/** Null for a name that is not among the first. */
export function foldedPlace(dimension: NameDimension, names: readonly string[]): Source {
  if (names.length === 0) return sql`null`;
  const column = columnOf(dimension);
  return sql`case when ${column} in (${sql.join(names)}) then ${column} end`;
}

/** The beginning of the hour or part, or some time within it. @param parts days, or longer ones */
export function timePlace(dimension: TimeDimension, parts: readonly Bucket[]): Source {
  if (dimension === 'hour') return sql`hour`;
  if (dimension === 'month') {
    const months = parts.map(({ from, to }) => sql`when hour < ${to} then ${sql.lit(from)}`);
    return months.length === 0 ? sql`hour` : sql`case ${sql.join(months, sql` `)} end`;
  }
  const runs = runsOf(parts).map(
    ({ from, to }) => sql`when hour < ${to} then hour - (hour - ${from}) % ${sql.lit(dayMs)}`,
  );
  return runs.length === 0 ? sql`hour` : sql`case ${sql.join(runs, sql` `)} end`;
}

export function isTime(dimension: string | undefined): dimension is TimeDimension {
  return (timeDimensions as readonly unknown[]).includes(dimension);
}

/** The name of the part in which a time is. */
export function nameOf(buckets: readonly Bucket[], time: number): string {
  return buckets.findLast(({ from }) => from <= time)?.name ?? '';
}

/** Adds up groups with the same names; the first of them keeps its place. */
export function mergeGroups(groups: readonly Group[]): Group[] {
  const groupsByName = new Map<string, Group>();
  for (const group of groups) {
    const name = JSON.stringify(group.names);
    const earlier = groupsByName.get(name);
    groupsByName.set(name, earlier === undefined ? group : addSums(earlier, group));
  }
  return [...groupsByName.values()];
}

const nothing: Sums = {
  ...(Object.fromEntries(hourlySums.map((name) => [name, 0])) as Omit<Sums, 'cost'>),
  cost: 0n,
};

function totalOf(groups: readonly Sums[]): Sums {
  return groups.reduce<Sums>(addSums, nothing);
}

/** Times in their order, names by their rank; what is not among the first comes last. */
export function inOrder({ by }: Pick<GroupQuestion, 'by'>, firsts: readonly Firsts[]) {
  const rank = (name: string | null, at: number): number | string => {
    if (isTime(by[at])) return name ?? '';
    const place = firsts[at]?.names?.indexOf(name ?? '') ?? -1;
    return name === null || place === -1 ? Infinity : place;
  };
  return (a: Pick<Group, 'names'>, b: Pick<Group, 'names'>): number => {
    for (const at of by.keys()) {
      const [left, right] = [rank(a.names[at] ?? null, at), rank(b.names[at] ?? null, at)];
      if (left !== right) return left < right ? -1 : 1;
    }
    return 0;
  };
}

/** What ids are called: names of keys and teams, addresses of users. An id whose object is gone has no name. */
export async function namesOf(
  db: Db,
  dimension: Dimension,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  if (dimension === 'user') {
    const rows = await db
      .selectFrom('users')
      .select(['id', 'email'])
      .where('id', 'in', ids)
      .execute();
    return new Map(rows.map(({ id, email }) => [id, email]));
  }
  if (dimension !== 'key' && dimension !== 'team') return new Map();
  const rows =
    dimension === 'key'
      ? await db
          .selectFrom('keys')
          .select(['id', shownKeyName.as('name')])
          .where('id', 'in', ids)
          .execute()
      : await db.selectFrom('teams').select(['id', 'name']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, name }) => [id, name ?? id]));
}
