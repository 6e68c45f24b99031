import { type Kysely, sql, type RawBuilder } from 'kysely';
import { containing } from '#database/expressions.ts';
import type { Database } from '#database/schema.ts';
import { balanceMeter, type EntryKind, type HolderAccount } from './accounts.ts';
import { balances } from './balances.repository.ts';
import { transactionIdAt } from './entries.repository.ts';

/** What a transaction gave to the account of a person or a team, or took from it. */
export interface Entry {
  /** Of its transaction. */
  readonly id: string;
  readonly account: HolderAccount;
  /** Unix milliseconds. */
  readonly time: number;
  readonly kind: EntryKind;
  /** Nano-USD. */
  readonly amount: bigint;
  /** Null for usage. */
  readonly actor: string | null;
  readonly reason: string | null;
}

/** Behind which entry a list continues. */
export type EntryPlace = Pick<Entry, 'time' | 'id' | 'account'>;

/** All must hold. */
export interface EntryFilter {
  /** Those of these accounts, which are few; absent: of everybody. */
  readonly accounts?: readonly HolderAccount[];
  readonly kind?: EntryKind;
  /** Without those of usage. */
  readonly isCreditsOnly?: boolean;
  /** What the account got, or what was taken from it. */
  readonly amount?: 'positive' | 'negative';
  /** What the reason, or the name of who made it, contains. */
  readonly search?: string;
  /** Unix milliseconds, inclusive and exclusive. */
  readonly from?: number;
  readonly to?: number;
  /** Absent: the newest ones. */
  readonly after?: EntryPlace;
  readonly limit: number;
}

/** The entries of people and teams, newest first, with the address or the name of whose account it is. */
export async function listEntries(
  db: Kysely<Database>,
  filter: EntryFilter,
): Promise<readonly (Entry & { readonly name: string | null })[]> {
  const { rows } = await sql<Entry & { name: string | null }>`
    select entries.*, coalesce(users.email, teams.name) as name
    from (${newest(filter)}) as entries
    left join users on substr(account, 1, 5) = 'user:' and users.id = substr(account, 6)
    left join teams on substr(account, 1, 5) = 'team:' and teams.id = substr(account, 6)
    ${newestFirst}`.execute(db);
  return rows;
}

/**
 * The same of one account, each with what the account had after it, and what the account has in that moment.
 * @param before what the account had before the entry behind which the list continues; null: not known. Nano-USD
 */
export async function listAccountEntries(
  db: Kysely<Database>,
  { account, ...rest }: Omit<EntryFilter, 'accounts'> & { readonly account: HolderAccount },
  before: bigint | null,
): Promise<{
  readonly balance: bigint;
  /** `balance` is null in a list that leaves entries out. */
  readonly entries: readonly (Entry & { readonly balance: bigint | null })[];
}> {
  const filter = { ...rest, accounts: [account] };
  const { after, isCreditsOnly = false } = filter;
  // One statement, so that no charge comes between the balance and the entries.
  const { rows } = await sql<Entry & { credited: bigint | null }>`
    select entries.*,
      (select credited - spent from spent_totals where meter = ${balanceMeter(account)}) as credited
    from (${newest(filter)}) as entries ${newestFirst}`.execute(db);
  const balance = rows[0]?.credited ?? (await balances(db, [account])).get(account) ?? 0n;
  let next = isCreditsOnly ? null : after === undefined ? balance : before;
  const entries = rows.map(({ credited: _credited, ...entry }) => {
    const withBalance = { ...entry, balance: next };
    if (next !== null) next -= entry.amount;
    return withBalance;
  });
  return { balance, entries };
}

/** The requests that an entry charged. */
export interface ChargedRequests {
  readonly count: number;
  /** The id of one of them. */
  readonly id: string;
  /** When the first and the last of them began. Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** The requests of entries of usage whose rows are kept, by `<transaction> <account>`. */
export async function requestsOf(
  db: Kysely<Database>,
  entries: readonly Entry[],
): Promise<ReadonlyMap<string, ChargedRequests>> {
  const ids = new Set(entries.filter(({ kind }) => kind === 'usage').map(({ id }) => id));
  if (ids.size === 0) return new Map();
  const { rows } = await sql<ChargedRequests & { name: string }>`
    select posting || ' ' || case when payer = 'team' then 'team:' || team_id else 'user:' || user_id end
      as name, count(*) as count, min(id) as id, min(time) as "from", max(time) as "to"
    from usage where posting is not null and posting in (${sql.join([...ids])})
    group by 1`.execute(db);
  return new Map(rows.map(({ name, ...requests }) => [name, requests]));
}

const newestFirst = sql`order by time desc, id desc, account desc`;

/**
 * The newest entries of a filter. Charges are many, and have neither an author nor a reason: their ids begin with their
 * time, so that their list is a part of an index; of several accounts, the newest of each are. Credits are made by people
 * and therefore few: they have an index of their own, and are sorted.
 */
function newest(filter: EntryFilter): RawBuilder<Entry> {
  const { accounts, kind, isCreditsOnly = false, amount, search, from, to, after, limit } = filter;
  const common = [
    ...(from === undefined ? [] : [sql`time >= ${from}`]),
    ...(to === undefined ? [] : [sql`time < ${to}`]),
    ...(amount === undefined ? [] : [amount === 'positive' ? sql`amount > 0` : sql`amount < 0`]),
    ...(after === undefined
      ? []
      : [
          // An index begins there.
          sql`time <= ${after.time}`,
          sql`(time < ${after.time} or (time = ${after.time} and (transaction_id < ${after.id}
            or (transaction_id = ${after.id} and account < ${after.account}))))`,
        ]),
  ];
  const part = (conditions: readonly RawBuilder<unknown>[], order: RawBuilder<unknown>) => sql`
    select * from (
      select transaction_id as id, account, kind, amount, actor, reason, time from ledger_entries
      where ${sql.join([...conditions, ...common], sql` and `)}
      order by ${order} limit ${limit}) as part`;
  const byTime = sql`time desc, transaction_id desc, account desc`;
  const credits = part(
    [
      // As it stands in the condition of the index.
      sql`kind <> 'usage' and account not in ('funding', 'operator-loss')`,
      ...(accounts === undefined ? [] : [sql`account in (${sql.join(accounts)})`]),
      ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
      ...(search === undefined
        ? []
        : [
            sql`(${containing(sql`coalesce(actor, '')`, search)}
              or ${containing(sql`coalesce(reason, '')`, search)})`,
          ]),
    ],
    byTime,
  );
  const isWithUsage =
    !isCreditsOnly &&
    (kind ?? 'usage') === 'usage' &&
    amount !== 'positive' &&
    search === undefined;
  if (!isWithUsage) return sql`${credits}`;
  const until = Math.min(Math.max(to ?? Infinity, 0), (after?.time ?? Infinity) + 1);
  const usage =
    accounts === undefined
      ? [
          part(
            [
              sql`kind = 'usage' and account <> 'revenue'`,
              sql`transaction_id >= ${transactionIdAt(Math.max(from ?? 0, 0))}`,
              sql`transaction_id < ${transactionIdAt(until)}`,
            ],
            sql`transaction_id desc, account desc`,
          ),
        ]
      : accounts.map((account) => part([sql`kind = 'usage' and account = ${account}`], byTime));
  const parts = sql.join([...usage, ...(kind === 'usage' ? [] : [credits])], sql` union all `);
  return sql`select * from (${parts}) as parts ${newestFirst} limit ${limit}`;
}
