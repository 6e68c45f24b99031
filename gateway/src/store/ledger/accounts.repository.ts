import { type Kysely, sql } from 'kysely';
import { containing } from '#database/expressions.ts';
import type { Database } from '#database/schema.ts';

/** The account of a person or a team. Amounts are nano-USD. */
export interface AccountTotals {
  readonly kind: 'user' | 'team';
  readonly id: string;
  /** The e-mail address of the person, or the name of the team. */
  readonly name: string;
  /** What has been paid in, and given or taken back as a correction. */
  readonly credited: bigint;
  readonly spent: bigint;
}

/** Behind which account a list continues. */
export interface AccountPlace {
  /** Nano-USD. */
  readonly balance: bigint;
  readonly kind: AccountTotals['kind'];
  readonly id: string;
}

export interface AccountQuestion {
  /** What the name contains, in capitals or not. */
  readonly search?: string;
  readonly after?: AccountPlace;
  readonly limit: number;
}

const holders = sql`(
  select 'user' as kind, users.id as id, email as name,
    coalesce(credited, 0) as credited, coalesce(spent, 0) as spent
  from users left join spent_totals on meter = 'user:' || users.id || ':balance'
  union all
  select 'team', teams.id, teams.name, coalesce(credited, 0), coalesce(spent, 0)
  from teams left join spent_totals on meter = 'team:' || teams.id || ':balance'
)`;

/** The accounts of people and teams, the highest balance first. */
export async function listAccounts(
  db: Kysely<Database>,
  { search, after, limit }: AccountQuestion,
): Promise<readonly AccountTotals[]> {
  const conditions = [
    ...(search === undefined ? [] : [containing(sql.ref('name'), search)]),
    ...(after === undefined
      ? []
      : [
          sql`(credited - spent < ${after.balance} or (credited - spent = ${after.balance}
            and (kind > ${after.kind} or (kind = ${after.kind} and id > ${after.id}))))`,
        ]),
  ];
  const where = conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`;
  const { rows } = await sql<AccountTotals>`
    select kind, id, name, credited, spent from ${holders} as accounts ${where}
    order by credited - spent desc, kind, id limit ${limit}`.execute(db);
  return rows;
}

/** The sums of all accounts. Amounts are nano-USD. */
export interface BookSums {
  readonly people: HolderSums;
  readonly teams: HolderSums;
  /** Entries of money that came in, and of money that was given or taken back: other sides of the credits. */
  readonly funding: EntrySums;
  readonly operatorLoss: EntrySums;
}

interface HolderSums {
  readonly accounts: number;
  readonly credited: bigint;
  readonly spent: bigint;
}

interface EntrySums {
  readonly entries: number;
  readonly amount: bigint;
}

/**
 * The sums of all accounts. What people and teams have is taken from the kept sums, which `reconcile` compares with the
 * entries, because there are entries of usage for every few requests; the credits are added up entry by entry.
 */
export async function sumBooks(db: Kysely<Database>): Promise<BookSums> {
  const { rows: holderRows } = await sql<HolderSums & { kind: 'user' | 'team' }>`
    select kind, count(*) as accounts, cast(sum(credited) as bigint) as credited,
      cast(sum(spent) as bigint) as spent
    from ${holders} as accounts group by kind`.execute(db);
  const { rows: entryRows } = await sql<EntrySums & { account: string }>`
    select account, count(*) as entries, cast(sum(amount) as bigint) as amount
    from ledger_entries
    where kind <> 'usage' and account in ('funding', 'operator-loss')
    group by account`.execute(db);
  const ofKind = (kind: string) =>
    holderRows.find((row) => row.kind === kind) ?? { accounts: 0, credited: 0n, spent: 0n };
  const ofAccount = (account: string) =>
    entryRows.find((row) => row.account === account) ?? { entries: 0, amount: 0n };
  return {
    people: ofKind('user'),
    teams: ofKind('team'),
    funding: ofAccount('funding'),
    operatorLoss: ofAccount('operator-loss'),
  };
}
