import type { FastifyInstance } from 'fastify';
import {
  createReconciler,
  lastReconciliation,
  Refusal,
  type ReconcilerOptions,
} from '#administration/index.ts';
import type { z } from 'zod';
import { formatUsd, type OpenDatabase } from '#database/index.ts';
import { findTeam, findUser, listTeams, listUsers } from '#identity/index.ts';
import {
  type AccountPlace,
  type EntryFilter,
  type HolderAccount,
  listAccounts,
  listEntries,
  requestsOf,
  sumBooks,
} from '#ledger/index.ts';
import { type Cell, csvLine } from '#usage/index.ts';
import { contract, type Contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { recordExport, sendPages, storedAs } from '../file-stream.ts';
import type { Reads } from '../from-database.ts';
import { serveRoute, serveStream, type ServeOptions } from '../serve-route.ts';

export interface BookRoutesOptions extends ServeOptions, Pick<ReconcilerOptions, 'now'> {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  /** Opens a connection for a comparison of the books alone. */
  readonly openForReconciling: ReconcilerOptions['open'];
}

const defaultLimit = 50;
/** Enough that the cost of a query is little beside that of its lines. */
const entriesAtOnce = 500;

type Db = OpenDatabase['kysely'];
type EntryLine = Awaited<ReturnType<typeof listEntries>>[number];

const columns = {
  id: ({ id }) => id,
  time: ({ time }) => new Date(time).toISOString(),
  account_kind: ({ account }) => partsOf(account).kind,
  account_id: ({ account }) => partsOf(account).id,
  account: ({ name }) => name,
  kind: ({ kind }) => kind,
  amount: ({ amount }) => ({ amount: formatUsd(amount) }),
  actor: ({ actor }) => actor,
  reason: ({ reason }) => reason,
} satisfies Record<string, (entry: EntryLine) => Cell>;

const csv = {
  heading: csvLine(Object.keys(columns)),
  line: (entry: EntryLine) => csvLine(Object.values(columns).map((column) => column(entry))),
};

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

  serveRoute(scope, contract.listBookEntries, options, async ({ query }) => {
    const { limit = defaultLimit, cursor, ...filters } = query;
    return reads(async (db) => {
      const after = cursor === undefined ? null : readEntryPlace(cursor);
      const { data, next } = await entryPage(db, filters, limit, after);
      const requests = await requestsOf(db, data);
      return {
        body: {
          data: data.map(({ account, name, time, amount, ...entry }) => {
            const charged = requests.get(`${entry.id} ${account}`);
            const holder = partsOf(account);
            return {
              ...entry,
              time: new Date(time).toISOString(),
              amount: formatUsd(amount),
              account: { ...holder, name: name ?? holder.id },
              requests:
                charged === undefined
                  ? null
                  : {
                      ...charged,
                      from: new Date(charged.from).toISOString(),
                      to: new Date(charged.to).toISOString(),
                    },
            };
          }),
          next: next === null ? null : entryCursor(next),
        },
      };
    });
  });

  serveStream(scope, contract.exportBookEntries, options, async ({ query, caller }, begin) => {
    const pageAfter = (after: EntryFilter['after'] | null) =>
      reads((db) => entryPage(db, query, entriesAtOnce, after));
    const first = await pageAfter(null);
    const name = 'entries.csv';
    await recordExport(options, caller.actor, { kind: 'books', name }, query);
    await sendPages(begin('text/csv; charset=utf-8', storedAs(name)), csv, first, pageAfter);
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

type EntryQuery = z.output<Contract['exportBookEntries']['query']>;

/** A page of the entries that a query asks for, and the last of them where others follow. */
async function entryPage(
  db: Db,
  { account: reference, q, kind, amount, from, to }: EntryQuery,
  limit: number,
  after: EntryFilter['after'] | null,
) {
  const accounts = reference === undefined ? null : await accountsOf(db, reference);
  if (accounts?.length === 0) return { data: [], next: null };
  const filter = {
    ...(accounts !== null && { accounts }),
    ...(kind !== undefined && { kind }),
    ...(amount !== undefined && { amount }),
    ...(q !== undefined && { search: q }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(after != null && { after }),
  };
  // One more than is shown tells whether there is a next page.
  const found = await listEntries(db, { ...filter, limit: limit + 1 });
  const data = found.slice(0, limit);
  return { data, next: found.length > limit ? (data.at(-1) ?? null) : null };
}

/** The entries of so many accounts are found by a part of their names. */
const mostAccounts = 50;

/**
 * The account of an id, an address or the name of a team; otherwise those whose names have it as a part.
 * @throws ApiError `invalid` for a part that too many have
 */
async function accountsOf(db: Db, reference: string): Promise<readonly HolderAccount[]> {
  const user = await findUser(db, reference);
  if (user !== null) return [`user:${user.id}`];
  const team = await findTeam(db, reference, { members: 'left-out' });
  if (team !== null) return [`team:${team.id}`];
  const part = { search: reference, limit: mostAccounts + 1 };
  const teams = await listTeams(db, { ...part, members: 'left-out' });
  const accounts = [
    ...(await listUsers(db, part)).map(({ id }) => `user:${id}` as const),
    ...teams.map(({ id }) => `team:${id}` as const),
  ];
  if (accounts.length <= mostAccounts) return accounts;
  const message = `more than ${mostAccounts} accounts have this in their name: expected more of it`;
  throw new ApiError('invalid', `account: ${message}`, { fields: [{ path: 'account', message }] });
}

/** Of an account such as `team:team_4c`. */
const partsOf = (account: HolderAccount) => ({
  kind: account.startsWith('user:') ? ('user' as const) : ('team' as const),
  id: account.slice('user:'.length),
});

const entryCursor = ({ time, account, id }: NonNullable<EntryFilter['after']>) =>
  `${time},${account},${id}`;

/** @throws ApiError `invalid` */
function readEntryPlace(cursor: string): NonNullable<EntryFilter['after']> {
  const [, time, account, id] = /^(\d{1,15}),((?:user|team):[^,]+),([^,]+)$/.exec(cursor) ?? [];
  if (time === undefined || account === undefined || id === undefined) throw unknownCursor();
  return { time: Number(time), account: account as HolderAccount, id };
}

function unknownCursor(): ApiError {
  const message = 'expected the next of a page before';
  return new ApiError('invalid', `cursor: ${message}`, { fields: [{ path: 'cursor', message }] });
}

/** @throws ApiError `invalid` */
function readCursor(cursor: string): AccountPlace {
  const [, balance, kind, id] = /^(-?\d{1,19})_(user|team)_(.+)$/.exec(cursor) ?? [];
  if (balance === undefined || kind === undefined || id === undefined) throw unknownCursor();
  return { balance: BigInt(balance), kind: kind as AccountPlace['kind'], id };
}
