import { formatUsd, type Change } from '#database/index.ts';
import { compareFields } from '#declaration/index.ts';
import { findTeam, findUser } from '#identity/index.ts';
import { balances, type Booked, creditAccount, type HolderAccount } from '#ledger/index.ts';
import { type Actor, actorName } from './audit.ts';
import { type Administration, perform } from './perform.ts';
import { missingObject } from './refusal.ts';

export interface CreditOptions {
  readonly kind: 'user' | 'team';
  /** Its id, otherwise the e-mail address or the team's name. */
  readonly holder: string;
  /** Nano-USD, not 0; negative takes away, as a correction. */
  readonly amount: bigint;
  readonly reason: string;
  /** A name for the credit: given again, it changes nothing. */
  readonly idempotencyKey?: string | undefined;
}

export interface Credited extends Booked {
  /** What is left now. Nano-USD. */
  readonly balance: bigint;
}

/**
 * Adds to a balance or takes from it. Both stay in the books with who did it and why.
 * @throws Refusal for a holder that does not exist, an idempotency key of another credit, or credits beyond what an account may have.
 */
export function creditBalance(
  administration: Administration,
  actor: Actor,
  { kind, holder, amount, reason, idempotencyKey }: CreditOptions,
): Promise<Credited> {
  return perform(administration, actor, async (change) => {
    const { account, id, name } = await accountOf(change, kind, holder);
    const bookedEntry = await creditAccount(change, {
      account,
      amount,
      kind: amount > 0n ? 'top-up' : 'correction',
      actor: actorName(actor),
      reason,
      idempotencyKey,
    });
    const balance = (await balances(change.trx, [account])).get(account) ?? 0n;
    const result = { ...bookedEntry, balance };
    if (bookedEntry.isRepeated) return { result, auditEntries: [] };
    const fields = compareFields(
      { balance: formatUsd(balance - amount) },
      { balance: formatUsd(balance) },
    );
    return {
      result,
      auditEntries: [{ action: 'credit', subject: { kind, id, name }, fields, reason }],
    };
  });
}

async function accountOf(
  { trx }: Change,
  kind: CreditOptions['kind'],
  holder: string,
): Promise<{ readonly account: HolderAccount; readonly id: string; readonly name: string }> {
  if (kind === 'user') {
    const user = await findUser(trx, holder);
    if (user === null) throw missingObject(kind, holder);
    return { account: `user:${user.id}`, id: user.id, name: user.email };
  }
  const team = await findTeam(trx, holder);
  if (team === null) throw missingObject(kind, holder);
  return { account: `team:${team.id}`, id: team.id, name: team.name };
}
