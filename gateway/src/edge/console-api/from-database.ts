import { ApiError } from './errors.ts';

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
