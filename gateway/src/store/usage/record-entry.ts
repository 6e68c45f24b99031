import { columns, type ExchangeRecord } from './record.ts';
import { toUsageEntry, type UsageEntry, type UsageRow } from './usage-entry.ts';

/** What the ids of a record are called; null: not known. */
export interface RecordNames {
  readonly key: string | null;
  readonly user: string | null;
  readonly team: string | null;
}

/** A record as its row will be shown. */
export function entryOf(record: ExchangeRecord, { key, user, team }: RecordNames): UsageEntry {
  const values = Object.entries(columns).map(([name, [type, read]]) => {
    const value = (read as (from: ExchangeRecord) => unknown)(record);
    if (value === null || type === 'text' || type === 'integer') return [name, value];
    return [name, type === 'amount' ? BigInt(value as string) : JSON.stringify(value)];
  });
  const row = Object.fromEntries(values) as Omit<UsageRow, 'key_name' | 'user_email' | 'team_name'>;
  return toUsageEntry({
    ...row,
    posting: null,
    late: null,
    key_name: key,
    user_email: user,
    team_name: team,
  });
}
