import { sql, type RawBuilder } from 'kysely';
import {
  readAmount,
  readDuration,
  readStatus,
  readText,
  readYesOrNo,
  type ReadValue,
} from './filter-values.ts';
import { errorWord } from './batch-totals.ts';
import type { UsageEntry } from './usage-entry.ts';

/** What of a request a filter may look at. */
export type FilteredRow = Pick<
  UsageEntry,
  'id' | 'key' | 'key_id' | 'user' | 'team' | 'model' | 'protocol' | 'operation' | 'client'
> & {
  readonly user_id: string;
  readonly team_id: string | null;
  /** Absent: the request has not ended. */
  readonly ended?: Pick<
    UsageEntry,
    'channel' | 'outcome' | 'status' | 'error' | 'cost' | 'duration_ms' | 'ttft_ms' | 'attempts'
  >;
};

export interface Word {
  readonly read: ReadValue;
  /** Where a table with the columns of `usage` has it. */
  readonly place: (table: string) => RawBuilder<unknown>;
  /** The column of `usage_errors` that has it too, for each attempt that failed. */
  readonly alsoIn?: 'channel' | 'error';
  /** The same of a row; null: it has none; undefined: it is not known yet. */
  readonly of: (row: FilteredRow) => readonly (string | number | bigint | null | undefined)[];
}

const column = (name: string) => (table: string) => sql.ref(`${table}.${name}`);

/** Words of the filter line. A filter is a line here. */
export const filterWords = {
  model: { read: readText, place: column('model'), of: ({ model }) => [model] },
  key: { read: readText, place: column('key_id'), of: ({ key, key_id: id }) => [key, id] },
  user: { read: readText, place: column('user_id'), of: ({ user, user_id: id }) => [user, id] },
  team: { read: readText, place: column('team_id'), of: ({ team, team_id: id }) => [team, id] },
  channel: { read: readText, place: column('channel'), of: ({ ended }) => [ended?.channel] },
  tried: {
    read: readText,
    place: column('channel'),
    alsoIn: 'channel',
    of: ({ ended }) => ended?.attempts.map(({ channel }) => channel) ?? [undefined],
  },
  error: {
    read: readText,
    place: column('error'),
    alsoIn: 'error',
    of: ({ ended }) =>
      ended === undefined ? [undefined] : [ended.error, ...ended.attempts.map(errorWord)],
  },
  client: { read: readText, place: column('client'), of: ({ client }) => [client] },
  protocol: { read: readText, place: column('protocol'), of: ({ protocol }) => [protocol] },
  operation: { read: readText, place: column('operation'), of: ({ operation }) => [operation] },
  outcome: { read: readText, place: column('outcome'), of: ({ ended }) => [ended?.outcome] },
  status: { read: readStatus, place: column('status'), of: ({ ended }) => [ended?.status] },
  cost: { read: readAmount, place: column('cost'), of: ({ ended }) => [nanoOf(ended)] },
  ms: { read: readDuration, place: column('duration_ms'), of: ({ ended }) => [ended?.duration_ms] },
  ttft: { read: readDuration, place: column('ttft_ms'), of: ({ ended }) => [ended?.ttft_ms] },
  // A row has it once it is in the books.
  transaction: { read: readText, place: column('posting'), of: () => [undefined] },
  asked: {
    read: readYesOrNo,
    place: (table) =>
      sql`case when ${sql.ref(`${table}.attempts`)} = '[]' then 'no' else 'yes' end`,
    of: ({ ended }) => [ended && (ended.attempts.length > 0 ? 'yes' : 'no')],
  },
} as const satisfies Readonly<Record<string, Word>>;
export type FilterWord = keyof typeof filterWords;

/** Words that sums know too. */
export const nameWords = ['model', 'key', 'user', 'team', 'channel', 'client'] as const;

function nanoOf(ended: FilteredRow['ended']): bigint | null | undefined {
  if (ended === undefined || ended.cost === null) return ended?.cost as null | undefined;
  const [whole = '0', fraction = ''] = ended.cost.split('.');
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
}
