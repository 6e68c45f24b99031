import { createHash, randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { Change } from '#database/change.ts';
import type { Database } from '#database/schema.ts';
import type { Account, EntryKind, HolderAccount } from './accounts.ts';
import { fundingOf } from './balances.repository.ts';

export interface LedgerTransaction {
  /** The database refuses a duplicate. */
  readonly id: string;
  readonly kind: EntryKind;
  /** Who made it; null for usage. */
  readonly actor: string | null;
  readonly reason: string | null;
  /** Unix milliseconds. */
  readonly time: number;
  /** Nano-USD; they add up to 0. */
  readonly amounts: ReadonlyMap<Account, bigint>;
}

/** Writes a transaction into the books. @throws Error if it does not add up to 0. */
export async function postTransaction(
  trx: Transaction<Database>,
  { id, amounts, ...shared }: LedgerTransaction,
): Promise<void> {
  const sum = amounts.values().reduce((total, amount) => total + amount, 0n);
  if (sum !== 0n) throw new Error(`the ledger transaction '${id}' is off by ${sum}`);
  const rows = Array.from(amounts, ([account, amount]) => ({
    transaction_id: id,
    account,
    amount,
    ...shared,
  }));
  if (rows.length > 0) await trx.insertInto('ledger_entries').values(rows).execute();
}

/** Ids begin with the time, so that an index appends them at its end. @param now Unix milliseconds */
export function createTransactionId(now: number): string {
  return `${transactionIdAt(now)}${randomBytes(8).toString('hex')}`;
}

/** What is before every id of this time or of a later one. @param time Unix milliseconds */
export function transactionIdAt(time: number): string {
  return `tx_${Math.min(time, 0xffff_ffff_ffff).toString(16).padStart(12, '0')}`;
}

/**
 * Books the opening balance of a new user or team. Call it in the transaction that creates the holder, so that it
 * happens once.
 */
export async function openAccount(
  { trx, owner, now }: Change,
  account: HolderAccount,
  credit: bigint,
): Promise<void> {
  if (credit === 0n) return;
  await postTransaction(trx, {
    id: `opening:${account}`,
    kind: 'opening',
    actor: owner,
    reason: null,
    time: now,
    amounts: new Map<Account, bigint>([
      [account, credit],
      ['funding', -credit],
    ]),
  });
}

export interface Credit {
  readonly account: HolderAccount;
  /** Nano-USD; a negative amount is a debit. */
  readonly amount: bigint;
  readonly kind: 'top-up' | 'correction';
  /** Who makes the entry, for example an e-mail address. */
  readonly actor: string;
  readonly reason: string;
  /** Names the credit, so that it is booked once however often it is asked for. */
  readonly idempotencyKey?: string | undefined;
}

/** Another credit has this idempotency key. The message is for the user. */
export class IdempotencyConflict extends Error {
  constructor(key: string) {
    super(`the idempotency key '${key}' belongs to another credit`);
    this.name = 'IdempotencyConflict';
  }
}

export interface Booked {
  /** The id of the transaction. */
  readonly transaction: string;
  /** It was booked before, and nothing has changed. */
  readonly isRepeated: boolean;
}

/**
 * The limit of the configuration file, in nano-USD. It is far below 64 bits, so no sum of credits and usage overflows.
 */
const mostCredit = 1_000_000_000n * 1_000_000_000n;

/** The message is for the user. */
export class CreditOutOfRange extends Error {
  constructor() {
    super('the credits of an account come to 1000000000 USD at most');
    this.name = 'CreditOutOfRange';
  }
}

/**
 * Books a top-up or a correction. The row of the account's holder gets a new revision, so the nodes learn of the credit
 * at their next poll. One credit at a time: see `lockDeclaration`.
 * @throws IdempotencyConflict if the key belongs to another amount, account or reason; CreditOutOfRange if the account's credits would exceed 10⁹ USD in either direction; Error if the user or team
 * does not exist or the amount is 0.
 */
export async function creditAccount(change: Change, credit: Credit): Promise<Booked> {
  const { account, amount, kind, actor, reason, idempotencyKey } = credit;
  if (amount === 0n) throw new Error('an amount of 0 changes nothing');
  const id =
    idempotencyKey === undefined
      ? createTransactionId(change.now)
      : transactionIdOf(idempotencyKey);
  if (idempotencyKey !== undefined && (await isBooked(change.trx, id, credit, idempotencyKey))) {
    return { transaction: id, isRepeated: true };
  }
  const funding = (await fundingOf(change.trx, [account])).get(account) ?? 0n;
  for (const sum of [amount, funding + amount]) {
    if (sum > mostCredit || sum < -mostCredit) {
      throw new CreditOutOfRange();
    }
  }
  await touchHolder(change, account);
  const other = kind === 'top-up' ? 'funding' : 'operator-loss';
  await postTransaction(change.trx, {
    id,
    kind,
    actor,
    reason,
    time: change.now,
    amounts: new Map<Account, bigint>([
      [account, amount],
      [other, -amount],
    ]),
  });
  return { transaction: id, isRepeated: false };
}

/** The same key is the same transaction, which the database refuses to have twice. */
function transactionIdOf(idempotencyKey: string): string {
  return `tx_k${createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 40)}`;
}

/** @throws IdempotencyConflict */
async function isBooked(
  trx: Transaction<Database>,
  id: string,
  { account, amount, reason }: Credit,
  idempotencyKey: string,
): Promise<boolean> {
  const entries = await trx
    .selectFrom('ledger_entries')
    .select(['account', 'amount', 'reason'])
    .where('transaction_id', '=', id)
    .execute();
  if (entries.length === 0) return false;
  const isSame = entries.some(
    (entry) => entry.account === account && entry.amount === amount && entry.reason === reason,
  );
  if (isSame) return true;
  throw new IdempotencyConflict(idempotencyKey);
}

async function touchHolder(change: Change, account: HolderAccount): Promise<void> {
  const table = account.startsWith('user:') ? 'users' : 'teams';
  const { numUpdatedRows } = await change.trx
    .updateTable(table)
    .set({ revision: await change.revision() })
    .where('id', '=', account.slice(account.indexOf(':') + 1))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new Error(`there is no account '${account}'`);
}
