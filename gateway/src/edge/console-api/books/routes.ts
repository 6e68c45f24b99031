import type { FastifyInstance } from 'fastify';
import {
  createReconciler,
  lastReconciliation,
  Refusal,
  type ReconcilerOptions,
} from '#administration/index.ts';
import { formatUsd, type OpenDatabase } from '#database/index.ts';
import { type AccountPlace, listAccounts, sumBooks } from '#ledger/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import type { Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';

export interface BookRoutesOptions extends ServeOptions, Pick<ReconcilerOptions, 'now'> {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  /** Opens a connection for a comparison of the books alone. */
  readonly openForReconciling: ReconcilerOptions['open'];
}

const defaultLimit = 50;

/** The accounts of the books, and whether they agree with the requests. */
export function bookRoutes(scope: FastifyInstance, options: BookRoutesOptions): void {
  const { database, reads, openForReconciling: open, now } = options;
  const reconciler = createReconciler({ database, open, now });
  scope.addHook('onClose', () => reconciler.close());

  serveRoute(scope, contract.readBooks, options, async ({ query }) => {
    const { q, limit = defaultLimit, cursor } = query;
    const question = {
      limit: limit + 1,
      ...(q !== undefined && { search: q }),
      ...(cursor !== undefined && { after: readCursor(cursor) }),
    };
    const { sums, accounts } = await reads(async (db) => ({
      sums: await sumBooks(db),
      accounts: await listAccounts(db, question),
    }));
    const { people, teams, funding, operatorLoss } = sums;
    const revenue = people.spent + teams.spent;
    const balances = people.credited + teams.credited - revenue;
    const data = accounts.slice(0, limit);
    const last = accounts.length > limit ? data.at(-1) : undefined;
    return {
      body: {
        balances: formatUsd(balances),
        people: holdersOf(people),
        teams: holdersOf(teams),
        revenue: formatUsd(revenue),
        funding: { entries: funding.entries, amount: formatUsd(funding.amount) },
        operator_loss: { entries: operatorLoss.entries, amount: formatUsd(operatorLoss.amount) },
        total: formatUsd(balances + revenue + funding.amount + operatorLoss.amount),
        data: data.map(({ kind, id, name, credited, spent }) => ({
          kind,
          id,
          name,
          credited: formatUsd(credited),
          spent: formatUsd(spent),
          balance: formatUsd(credited - spent),
        })),
        next: last === undefined ? null : `${last.credited - last.spent}_${last.kind}_${last.id}`,
      },
    };
  });

  const replyOf = async () => ({
    body: { running: reconciler.running, last: await reads(lastReconciliation) },
  });
  serveRoute(scope, contract.readReconciliation, options, replyOf);
  serveRoute(scope, contract.startReconciliation, options, async ({ caller }) => {
    try {
      reconciler.start(caller.actor);
    } catch (error) {
      if (error instanceof Refusal) throw new ApiError('conflict', error.message);
      throw error;
    }
    return replyOf();
  });
}

const holdersOf = ({
  accounts,
  credited,
  spent,
}: {
  readonly accounts: number;
  readonly credited: bigint;
  readonly spent: bigint;
}) => ({ accounts, balance: formatUsd(credited - spent) });

/** @throws ApiError `invalid` */
function readCursor(cursor: string): AccountPlace {
  const [, balance, kind, id] = /^(-?\d{1,19})_(user|team)_(.+)$/.exec(cursor) ?? [];
  if (balance === undefined || kind === undefined || id === undefined) {
    const message = 'expected the next of a page before';
    throw new ApiError('invalid', `cursor: ${message}`, { fields: [{ path: 'cursor', message }] });
  }
  return { balance: BigInt(balance), kind: kind as AccountPlace['kind'], id };
}
