import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '#database/schema.ts';
import type { Check, Difference } from './difference.ts';

/*
 * One statement per page, which sees one state of the database: concurrent writes of the gateway cause no differences.
 */

const pageSize = 1_000;

interface Sum {
  readonly name: string;
  readonly account: string;
  /** The amount by which the books exceed the rows. */
  readonly amount: bigint;
  /** The amount in the books. */
  readonly spent: bigint;
}

/** The accounts that each kind of transaction moves money between, as a condition that a wrong entry fulfils. */
const strangers = sql<boolean>`(
  (account = 'revenue' and kind <> 'usage')
  or (account = 'funding' and kind not in ('opening', 'top-up'))
  or (account = 'operator-loss' and kind <> 'correction')
)`;

/** Checks that every transaction adds up to 0 and uses the accounts of its kind. */
export async function* checkTransactions(db: Kysely<Database>): Check {
  let count = 0;
  for await (const range of rangesOf(db, 'transaction_id')) {
    count += range.count;
    const { rows } = await sql<Pick<Sum, 'name' | 'amount'>>`
      select transaction_id as name, sum(amount) as amount from ledger_entries
      where ${range.within(sql.ref('transaction_id'))}
      group by transaction_id having sum(amount) <> 0`.execute(db);
    for (const { name, amount } of rows) {
      yield { check: 'transaction', subject: name, expected: '0', found: String(amount) };
    }
    const { rows: unexpectedRows } = await sql<Pick<Sum, 'name' | 'account'> & { kind: string }>`
      select transaction_id as name, account, kind from ledger_entries
      where ${range.within(sql.ref('transaction_id'))} and ${strangers}`.execute(db);
    for (const { name, account, kind } of unexpectedRows) {
      const foundText = `${kind} on '${account}'`;
      yield {
        check: 'transaction',
        subject: name,
        expected: 'an account of its kind',
        found: foundText,
      };
    }
  }
  return count;
}

/** Checks that every opening balance matches the books. */
export async function* checkOpenings(db: Kysely<Database>): Check {
  let total = 0;
  for (const [table, kind] of [
    ['users', 'user'],
    ['teams', 'team'],
  ] as const) {
    const account = sql`${sql.lit(`${kind}:`)} || holder.id`;
    const { count } = await db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    total += count;
    const { rows } = await sql<Omit<Sum, 'name'>>`
      select ${account} as account, opening_credit as amount, coalesce(entry.amount, 0) as spent
      from ${sql.table(table)} as holder left join ledger_entries as entry
        on entry.transaction_id = 'opening:' || ${account} and entry.account = ${account}
      where opening_credit <> coalesce(entry.amount, 0)`.execute(db);
    for (const { account: subject, amount, spent } of rows) {
      yield { check: 'opening', subject, expected: String(amount), found: String(spent) };
    }
  }
  return total;
}

/**
 * Checks that what a transaction took from an account equals the cost of its rows, including rows that retention
 * removed.
 */
export async function* checkPostings(db: Kysely<Database>): Check {
  let count = 0;
  const payer = sql`case when payer = 'team' then 'team:' || team_id else 'user:' || user_id end`;
  for await (const range of rangesOf(db, 'transaction_id')) {
    count += range.count;
    const { rows } = await sql<Sum>`
      select name, account, sum(amount) as amount, sum(booked) as spent from (
        select transaction_id as name, account, -amount as amount, -amount as booked
        from ledger_entries
        where kind = 'usage' and account <> 'revenue' and ${range.within(sql.ref('transaction_id'))}
        union all
        select posting, ${payer}, -cost, 0 from usage
        where posting is not null and ${range.within(sql.ref('posting'))}
        union all
        select substr(name, 1, ${sql.lit(idLength)}), substr(name, ${sql.lit(idLength + 2)}), -cost, 0
        from removed_usage
        where substr(name, 1, 3) = 'tx_' and ${range.within(sql`substr(name, 1, ${sql.lit(idLength)})`)}
      ) as sides
      group by name, account having sum(amount) <> 0`.execute(db);
    for (const { name, account, amount, spent } of rows) {
      const subject = `${name} ${account}`;
      yield { check: 'posting', subject, expected: String(spent - amount), found: String(spent) };
    }
  }
  return count;
}

/**
 * Checks that what usage took from an account equals the meter of its balance, and that the sum of its credits is the one
 * that is kept there.
 */
export async function* checkAccounts(db: Kysely<Database>): Check {
  let count = 0;
  for await (const range of rangesOf(db, 'account')) {
    count += range.count;
    const { rows } = await sql<Omit<Sum, 'name'>>`
      select account, sum(amount) as amount, sum(counted) as spent from (
        select account, amount, 0 as counted from ledger_entries
        where kind = 'usage' and account <> 'revenue' and ${range.within(sql.ref('account'))}
        union all
        select substr(meter, 1, length(meter) - 8), spent, spent from spent_totals
        where meter like '%:balance' and ${range.within(sql`substr(meter, 1, length(meter) - 8)`)}
      ) as sides
      group by account having sum(amount) <> 0`.execute(db);
    for (const { account, amount, spent } of rows) {
      const subject = account;
      yield { check: 'account', subject, expected: String(spent - amount), found: String(spent) };
    }
    yield* checkCredits(db, range);
  }
  return count;
}

async function* checkCredits(db: Kysely<Database>, { within }: Range): AsyncGenerator<Difference> {
  const { rows } = await sql<{ account: string; amount: bigint; credited: bigint }>`
    select account, sum(amount) as amount, sum(kept) as credited from (
      select account, amount, 0 as kept from ledger_entries
      where kind <> 'usage' and substr(account, 1, 5) in ('user:', 'team:')
        and ${within(sql.ref('account'))}
      union all
      select substr(meter, 1, length(meter) - 8), 0, credited from spent_totals
      where credited <> 0 and ${within(sql`substr(meter, 1, length(meter) - 8)`)}
    ) as sides
    group by account having sum(amount) <> sum(kept)`.execute(db);
  for (const { account: subject, amount, credited } of rows) {
    yield { check: 'credit', subject, expected: String(amount), found: String(credited) };
  }
}

/** `tx_`, 12 digits of the time and 16 random ones. */
const idLength = 31;

interface Range {
  readonly count: number;
  /** Whether an expression's value is in this range; the last range is unbounded. */
  within(expression: RawBuilder<unknown>): RawBuilder<boolean>;
}

/** Splits all names into ranges of a few thousand. */
async function* rangesOf(
  db: Kysely<Database>,
  column: 'transaction_id' | 'account',
): AsyncGenerator<Range> {
  let after = '';
  for (;;) {
    const rows = await db
      .selectFrom('ledger_entries')
      .select(column)
      .distinct()
      .where(column, '>', after)
      .orderBy(column)
      .limit(pageSize)
      .execute();
    const start = after;
    const end = rows.length < pageSize ? null : (rows.at(-1)?.[column] ?? null);
    yield {
      count: rows.length,
      within: (value) =>
        end === null
          ? sql<boolean>`${value} > ${start}`
          : sql<boolean>`(${value} > ${start} and ${value} <= ${end})`,
    };
    if (end === null) return;
    after = end;
  }
}
