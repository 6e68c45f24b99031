import type { Grouping, UsageEntry, UsageFilter } from '#usage/index.ts';
import { readDatabase } from './command-config.ts';
import {
  type Command,
  type CommandInput,
  type CommandIo,
  commonOptions,
  exitCode,
  printJson,
  printResult,
  UsageError,
  readTimes,
  timeOptions,
} from './command.ts';
import { formatTable, tableOf } from './text-table.ts';
import type { Workspace } from './workspace.ts';

export const usage: Command = {
  name: 'usage',
  description:
    'Newest first. --from is inclusive, --to is exclusive. --by sums up; sums of whole hours remain after the\n' +
    'single requests have been removed, and those of a part of an hour at the ends of the range do not.',
  options: {
    ...timeOptions,
    key: { type: 'string', value: 'NAME', help: 'only this key, by name or id' },
    user: { type: 'string', value: 'EMAIL', help: 'only this user' },
    team: { type: 'string', value: 'NAME', help: 'only this team' },
    model: { type: 'string', value: 'NAME', help: 'only this model, as clients wrote it' },
    channel: { type: 'string', value: 'NAME', help: 'only this channel' },
    client: { type: 'string', value: 'FAMILY', help: 'only these clients, such as claude-code' },
    limit: { type: 'string', value: 'N', help: 'at most this many, up to 1000; default: 100' },
    cursor: { type: 'string', value: 'NEXT', help: 'the cursor that the previous page printed' },
    by: {
      type: 'string',
      value: 'WHAT',
      multiple: true,
      help: 'sum by hour, day, month, model, channel, key, user, team or client, or by two',
    },
    'time-zone': {
      type: 'string',
      value: 'ZONE',
      help: 'of the days and months of --by, such as Europe/Berlin; default: UTC',
    },
    unfinished: {
      type: 'boolean',
      help: 'attempts that a crash cut off: their upstreams may bill them, and nobody was charged',
    },
    unread: {
      type: 'boolean',
      help: 'only requests whose upstream counted something that is not read, and so not charged',
    },
    csv: { type: 'boolean', help: 'print all matching requests as CSV' },
    ...commonOptions,
  },
  positionals: [],
  async run(input, io) {
    const filter = await readFilter(input);
    const by = await readGroupings(input);
    if (input.flag('unfinished')) return printUnfinished(input, io);
    if (by.length > 0) return printSums(input, io, filter, by);
    if (input.flag('csv')) return printCsv(input, io, filter);
    return printPage(input, io, filter);
  },
};

const filterOptions = ['key', 'user', 'team', 'model', 'channel', 'client', 'cursor'] as const;

async function printUnfinished(input: CommandInput, io: CommandIo): Promise<number> {
  const others = [...filterOptions, 'limit'] as const;
  const other =
    others.find((option) => input.text(option) !== undefined) ??
    (input.texts('by').length > 0 ? 'by' : undefined);
  const flag = (['csv', 'unread'] as const).find((name) => input.flag(name));
  if (other !== undefined || flag !== undefined) {
    throw new UsageError(`--unfinished: expected no --${other ?? flag} beside it`);
  }
  const range = await readTimes(input);
  const data = await readDatabase(input, io, async ({ database }) => {
    const { listUnfinished } = await import('#usage/index.ts');
    return listUnfinished(database.kysely, range);
  });
  const table = tableOf(data, {
    TIME: ({ time }) => time,
    REQUEST: ({ id }) => id,
    KEY: ({ key }) => key,
    MODEL: ({ model }) => model,
    CHANNEL: ({ channel }) => channel,
    'AT MOST': ({ held }) => held ?? 'free',
  });
  const total = `total: ${data.length} ${data.length === 1 ? 'attempt' : 'attempts'}\n`;
  return printResult(input, io, { data }, table + total);
}

async function printPage(input: CommandInput, io: CommandIo, filter: UsageFilter): Promise<number> {
  const asJson = input.flag('json');
  const { page, total, unknown } = await readDatabase(input, io, async (workspace) => {
    const { listUsage, totalUsage } = await import('#usage/index.ts');
    const { kysely } = workspace.database;
    const page = await listUsage(kysely, filter);
    const total = asJson ? null : await totalUsage(kysely, filter);
    return {
      page,
      total,
      unknown: total?.requests === 0 ? await unknownIn(filter, workspace) : [],
    };
  });
  if (total === null) {
    printJson(io, page);
    return exitCode.done;
  }
  for (const name of unknown) io.stderr(`note: there is no ${name}\n`);
  const { formatUsd } = await import('#database/index.ts');
  const table = tableOf(page.data, {
    TIME: ({ time }) => time,
    KEY: ({ key }) => key,
    // A body that could not be read names no model.
    MODEL: ({ model }) => (model === '' ? '(none)' : model),
    CHANNEL: ({ channel }) => channel ?? '',
    STATUS: ({ status, outcome, count }) => `${status} ${outcome}${count > 1 ? ` × ${count}` : ''}`,
    IN: ({ tokens }) => String(inputOf(tokens)),
    OUT: ({ tokens }) => String(tokens.output),
    COST: (entry) => (entry.cost ?? '') + markOf(entry),
    ...(filter.hasUnread === true && {
      UNREAD: (entry: UsageEntry) => entry.usage_unread.join(' '),
    }),
  });
  io.stdout(table + totalLine(total.requests, formatUsd(total.cost)));
  if (page.next !== null) io.stdout(`more: --cursor ${page.next}\n`);
  return exitCode.done;
}

function markOf({ estimated, quarantined }: Pick<UsageEntry, 'estimated' | 'quarantined'>): string {
  if (quarantined) return ' (quarantined)';
  return estimated ? ' (estimated)' : '';
}

function totalLine(requests: number, cost: string): string {
  return `total: ${requests} ${requests === 1 ? 'request' : 'requests'}, ${cost} USD\n`;
}

/** Names that do not exist: a typing error must not look like a month without usage. */
async function unknownIn(
  { key, user, team, channel }: UsageFilter,
  { database: { kysely }, secrets }: Workspace,
): Promise<string[]> {
  const { findKey, findUserByEmail, listTeams } = await import('#identity/index.ts');
  const { listChannels } = await import('#catalogue/index.ts');
  const isNamed = (name: string) => (each: { readonly name: string }) => each.name === name;
  const unknown: string[] = [];
  if (key !== undefined && (await findKey(kysely, key)) === null) unknown.push(`key '${key}'`);
  if (user !== undefined && (await findUserByEmail(kysely, user)) === null) {
    unknown.push(`user '${user}'`);
  }
  if (team !== undefined && !(await listTeams(kysely)).some(isNamed(team))) {
    unknown.push(`team '${team}'`);
  }
  if (channel !== undefined && !(await listChannels(kysely, secrets)).some(isNamed(channel))) {
    unknown.push(`channel '${channel}'`);
  }
  return unknown;
}

/** Prints everything that matches page by page, so that any number of rows needs little memory. */
async function printCsv(input: CommandInput, io: CommandIo, filter: UsageFilter): Promise<number> {
  return readDatabase(input, io, async ({ database: { kysely } }) => {
    const { csvHeading, listUsage, toCsv } = await import('#usage/index.ts');
    io.stdout(csvHeading);
    let { cursor } = filter;
    let rowsLeft = filter.limit ?? Infinity;
    do {
      const limit = Math.min(rowsLeft, 1_000);
      const page = await listUsage(kysely, {
        ...filter,
        limit,
        ...(cursor === undefined ? {} : { cursor }),
      });
      io.stdout(page.data.map(toCsv).join(''));
      rowsLeft -= page.data.length;
      cursor = page.next ?? undefined;
    } while (cursor !== undefined && rowsLeft > 0);
    return exitCode.done;
  });
}

async function printSums(
  input: CommandInput,
  io: CommandIo,
  filter: UsageFilter,
  by: readonly Grouping[],
): Promise<number> {
  const timeZone = await readTimeZone(input, by);
  const sums = await readDatabase(input, io, async ({ database }) => {
    const { sumUsage } = await import('#usage/index.ts');
    return sumUsage(database.kysely, filter, by, timeZone);
  });
  const { formatUsd } = await import('#database/index.ts');
  const requests = sums.reduce((sum, group) => sum + group.requests, 0);
  const cost = formatUsd(sums.reduce((sum, group) => sum + group.cost, 0n));
  if (input.flag('json')) {
    const data = sums.map(({ names, ...group }) => ({
      ...Object.fromEntries(by.map((grouping, at) => [grouping, names[at]])),
      ...group,
      cost: formatUsd(group.cost),
    }));
    printJson(io, { data, requests, cost });
    return exitCode.done;
  }
  const rows = sums.map(({ names, tokens, ...group }) => [
    ...names,
    String(group.requests),
    String(group.failed),
    String(inputOf(tokens)),
    String(tokens.output),
    formatUsd(group.cost),
    String(group.unbilled_tokens),
    String(group.images),
    String(group.video_ms),
    String(group.video_tokens),
    String(group.attempts),
    String(group.failed_attempts),
  ]);
  const heading = [
    ...by.map((grouping) => grouping.toUpperCase()),
    'REQUESTS',
    'FAILED',
    'IN',
    'OUT',
    'COST',
    'UNBILLED',
    'IMAGES',
    'VIDEO_MS',
    'VIDEO_TOKENS',
    'ATTEMPTS',
    'FAILED_ATTEMPTS',
  ];
  if (input.flag('csv')) {
    const { csvLine } = await import('#usage/index.ts');
    for (const row of [heading.map((text) => text.toLowerCase()), ...rows]) io.stdout(csvLine(row));
  } else io.stdout(formatTable(heading, rows) + totalLine(requests, cost));
  return exitCode.done;
}

/** All input tokens, including those read from or written to a cache. */
function inputOf({ input, cache_read, cache_write, cache_write_1h }: UsageEntry['tokens']): number {
  return input + cache_read + cache_write + cache_write_1h;
}

/** None: single requests are listed. @throws UsageError */
async function readGroupings(input: CommandInput): Promise<readonly Grouping[]> {
  const texts = input.texts('by');
  if (texts.length === 0) {
    if (input.text('time-zone') === undefined) return [];
    throw new UsageError('--time-zone: expected --by day or --by month beside it');
  }
  const { groupings } = await import('#usage/index.ts');
  const by = [...new Set(texts)].map((text) => {
    const grouping = groupings.find((each) => each === text);
    if (grouping !== undefined) return grouping;
    throw new UsageError(`--by: expected one of ${groupings.join(', ')}`);
  });
  if (by.length > 2) throw new UsageError('--by: expected one or two of them');
  if (input.flag('unread')) throw new UsageError('--unread: expected no --by beside it');
  return by;
}

async function readTimeZone(input: CommandInput, by: readonly Grouping[]): Promise<string> {
  const zone = input.text('time-zone');
  if (zone === undefined) return 'UTC';
  const { isTimeZone } = await import('#config/index.ts');
  if (!isTimeZone(zone)) {
    throw new UsageError('--time-zone: expected a time zone such as Europe/Berlin');
  }
  if (by.includes('day') || by.includes('month')) return zone;
  throw new UsageError('--time-zone: expected --by day or --by month beside it');
}

async function readFilter(input: CommandInput): Promise<UsageFilter> {
  const texts = filterOptions.flatMap((option) => {
    const value = input.text(option);
    return value === undefined ? [] : [[option, value] as const];
  });
  const limit = input.text('limit');
  if (
    limit !== undefined &&
    (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > 1000)
  ) {
    throw new UsageError('--limit: expected a whole number from 1 to 1000');
  }
  return {
    ...Object.fromEntries(texts),
    ...(await readTimes(input)),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(input.flag('unread') && { hasUnread: true }),
  };
}
