import type { FastifyInstance } from 'fastify';
import { creditBalance } from '#administration/index.ts';
import { kinds } from '#config/index.ts';
import { formatUsd, type OpenDatabase, parseUsd } from '#database/index.ts';
import { findTeam, findUser } from '#identity/index.ts';
import { type EntryPlace, type HolderAccount, listAccountEntries } from '#ledger/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase } from '../from-database.ts';
import { serveRoute } from '../serve-route.ts';
import type { PeopleOptions } from '../users/routes.ts';
import { callOf, pageOf, throwRefusal } from '../writes.ts';

/** What people and teams have been credited and charged. */
export function accountRoutes(scope: FastifyInstance, options: PeopleOptions): void {
  const { administration, reads } = options;

  serveRoute(scope, contract.listEntries, options, async ({ parameters, query }) =>
    reads(async (db) => {
      const { limit, after } = pageOf(query);
      const account = await knownAccount(db, parameters);
      const { before = null, ...place } = after === undefined ? {} : readCursor(after, account);
      const filter = { account, ...place, isCreditsOnly: query.credits === 'only' };
      const found = await listAccountEntries(db, { ...filter, limit: limit + 1 }, before);
      const entries = found.entries.slice(0, limit);
      const last = found.entries.length > limit ? entries.at(-1) : undefined;
      return {
        body: {
          balance: formatUsd(found.balance),
          data: entries.map(({ time, amount, balance, ...entry }) => ({
            ...entry,
            time: new Date(time).toISOString(),
            amount: formatUsd(amount),
            balance: balance === null ? null : formatUsd(balance),
          })),
          next: last === undefined ? null : cursorOf(last),
        },
      };
    }),
  );

  serveRoute(scope, contract.credit, options, async ({ request, parameters, body, caller }) => {
    const { kind, id: holder } = parameters;
    const amount = readAmount(body.amount);
    const reason = body.reason.trim();
    if (reason === '') throw invalid('reason', 'expected a reason');
    const call = callOf(request, caller);
    if (call === undefined) {
      throw invalid(
        'idempotency-key',
        'expected a name for this credit, so that it is booked once',
      );
    }
    const { transaction, isRepeated, balance } = await fromDatabase(() =>
      creditBalance(administration, caller.actor, {
        kind,
        holder,
        amount,
        reason,
        // The same word of another caller is another credit.
        idempotencyKey: `${call.callerId} ${call.name}`,
      }).catch((error: unknown) => throwRefusal(kinds[kind], error)),
    );
    return { body: { id: transaction, repeated: isRepeated, balance: formatUsd(balance) } };
  });
}

/** @throws ApiError `not_found` */
async function knownAccount(
  db: OpenDatabase['kysely'],
  { kind, id: reference }: { readonly kind: 'user' | 'team'; readonly id: string },
): Promise<HolderAccount> {
  const holder = kind === 'user' ? await findUser(db, reference) : await findTeam(db, reference);
  if (holder === null) throw new ApiError('not_found', `there is no such ${kind}`);
  return `${kind}:${holder.id}`;
}

/** Nano-USD. @throws ApiError `invalid` */
function readAmount(text: string): bigint {
  try {
    const amount = parseUsd(text);
    if (amount !== 0n) return amount;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw invalid('amount', 'expected an amount in USD other than 0, with at most nine decimals');
}

const invalid = (path: string, message: string) =>
  new ApiError('invalid', `${path}: ${message}`, { fields: [{ path, message }] });

function cursorOf({
  time,
  id,
  balance,
  amount,
}: {
  readonly time: number;
  readonly id: string;
  readonly balance: bigint | null;
  readonly amount: bigint;
}): string {
  return `${time}_${balance === null ? '' : balance - amount}_${id}`;
}

/** @throws ApiError `invalid` */
function readCursor(
  cursor: string,
  account: HolderAccount,
): { readonly after: EntryPlace; readonly before: bigint | null } {
  const [, time, before, id] = /^(\d{1,15})_(-?\d{1,25}|)_(.+)$/.exec(cursor) ?? [];
  if (time === undefined || before === undefined || id === undefined) {
    throw invalid('cursor', 'expected the next of a page before');
  }
  return {
    after: { time: Number(time), id, account },
    before: before === '' ? null : BigInt(before),
  };
}
