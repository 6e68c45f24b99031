import { ApiError } from './errors.ts';
import { createDatabaseBreaker, type DatabaseBreaker, type OpenDatabase } from '#database/index.ts';
import { createSlots } from './sessions/slots.ts';

/**
 * Waits for the database.
 * @throws ApiError `database_away` if it cannot be reached, is locked, or takes too long
 */
export async function fromDatabase<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (cause) {
    if (isOwnFault(cause)) throw cause;
    throw new ApiError('database_away', 'the database does not respond, try again', {
      retryAfter: 2,
      cause,
    });
  }
}

/** What PostgreSQL calls wrong data, a broken constraint and a wrong statement; each is a defect of the gateway. */
const ownClasses = /^(?:22|23|42)/;
/** A wrong statement, for SQLite. */
const sqliteError = 1;

function isOwnFault(error: unknown): boolean {
  if (error instanceof ApiError || error instanceof RangeError || error instanceof TypeError) {
    return true;
  }
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  return errcode === sqliteError || (typeof code === 'string' && ownClasses.test(code));
}

/**
 * Reads for pages, through a separate connection, so that no request for a model waits for a page.
 * @throws ApiError `too_many` if too many wait already, `database_away`
 */
export type Reads = <Result>(
  read: (db: OpenDatabase['kysely']) => Promise<Result>,
) => Promise<Result>;

const pageReads = { atOnce: 4, waiting: 60 };
/** They share the database with requests for models, and anybody can cause them with a cookie that they made up. */
const lookUps = { atOnce: 2, waiting: 200 };

/** @param reading opens the connection at the first read */
export function createReads(reading: () => OpenDatabase): Reads {
  const slots = createSlots(pageReads.atOnce, pageReads.waiting);
  return (read) => slots.run(() => fromDatabase(() => read(reading().kysely)));
}

/**
 * Looks up a person in the database.
 * @throws ApiError `database_away`, at once if it has not responded for some seconds, or `too_many`
 */
export type LookUp = <Result>(ask: () => Promise<Result>) => Promise<Result>;

export function createLookUp(breaker: DatabaseBreaker = createDatabaseBreaker()): LookUp {
  const slots = createSlots(lookUps.atOnce, lookUps.waiting);
  return (ask) => slots.run(() => fromDatabase(() => breaker(ask)));
}
