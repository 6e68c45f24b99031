import { sql, type Transaction } from 'kysely';
import { waitForDisk, type Database } from '#database/index.ts';
import { isPostgres } from '#database/expressions.ts';
import { GatewayError } from '#errors/index.ts';
import { leasesChannel } from './expressions.repository.ts';
import { settleLeases } from './settle.repository.ts';

/** What a task holds until it ends, whatever becomes of the process that admitted it. */
export interface TaskHold {
  /** All meters of the task (`ledger/meter-names.ts`). */
  readonly meters: readonly string[];
  /** Nano-USD, on each of them. */
  readonly amount: bigint;
}

/** A hold on its way from the leases of a process to a task. */
export interface KeptHold extends TaskHold {
  /** Where it lies now: its part on each meter, in decimal digits of nano-USD. Null: in no lease of the database. */
  readonly lease: { readonly life: string; readonly parts: readonly string[] } | null;
}

/**
 * Moves a hold from the leases in which it lies to its task. Call it in the transaction that creates the task.
 * @throws GatewayError `unavailable` if these leases were freed meanwhile, and others may have what was held: roll back.
 */
export async function holdForTask(
  trx: Transaction<Database>,
  { meters, amount, lease }: KeptHold,
): Promise<void> {
  await change(trx, meters, amount);
  if (lease === null) return;
  const parts = meters.map((meter, at) => {
    return { meter, life: lease.life, part: BigInt(lease.parts[at] ?? '0') };
  });
  const late = await settleLeases(
    trx,
    parts.filter(({ part }) => part > 0n),
  );
  if (late.size > 0) throw new GatewayError('unavailable', { retryAfter: 1 });
}

/**
 * Ends the hold of a task. Call it once, in the transaction that ends the task, as its last statement: requests that wait
 * for money lock the same rows.
 */
export async function releaseTaskHold(
  trx: Transaction<Database>,
  { meters, amount }: TaskHold,
): Promise<void> {
  await change(trx, meters, -amount);
  if (!isPostgres(trx)) return;
  // Whoever was refused may be admitted now.
  await sql`
    select pg_notify(${leasesChannel}, meter || ' ' || recall) from spent_totals
    where meter = any(${meters}::text[])`.execute(trx);
}

/** Locks the rows in order of name, as everybody does. */
async function change(
  trx: Transaction<Database>,
  meters: readonly string[],
  amount: bigint,
): Promise<void> {
  const rows = meters
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((meter) => sql`(${meter}, 0, ${amount})`);
  // By the version, a command that forgets a lease notices what is taken from it here. An end takes nothing from leases.
  const isTaken = amount > 0n ? 1 : 0;
  await sql`
    insert into spent_totals (meter, spent, held) values ${sql.join(rows)}
    on conflict (meter) do update set
      held = spent_totals.held + excluded.held, version = spent_totals.version + ${sql.lit(isTaken)}`.execute(
    trx,
  );
  if (isPostgres(trx)) await sql`select ${waitForDisk}`.execute(trx);
}
