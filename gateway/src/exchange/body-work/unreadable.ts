import type { ReportedUsage } from '#canonical/index.ts';
import { isRecord, UnreadableResponse } from '#protocols/index.ts';

/** The members of `UnreadableResponse`, as data for the main thread. */
export interface Unreadable {
  readonly kind: 'unreadable';
  readonly message: string;
  readonly error: unknown;
  readonly usage: ReportedUsage | null;
}

/** A response that cannot be read is a result, too. @throws any other error of `read` */
export function readOrReport<Result>(read: () => Result): Result | Unreadable {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UnreadableResponse)) throw error;
    const { message, usage } = error;
    return { kind: 'unreadable', message, error: essence(error.body), usage };
  }
}

/** @throws UnreadableResponse as the thread's work threw it */
export function unreadableOf({ message, error, usage }: Unreadable): UnreadableResponse {
  return new UnreadableResponse(message, error, usage);
}

/** The part of an error response that is read: enough to classify it. */
const errorLength = 64 * 1024;
const memberLength = 4 * 1024;

/** Reduces an error for the main thread, which must not receive a large response in it. */
function essence(body: unknown): unknown {
  if (!isRecord(body) || JSON.stringify(body).length <= errorLength) return body;
  return {
    ...scalarsOf(body),
    ...(isRecord(body['error']) && { error: scalarsOf(body['error']) }),
  };
}

function scalarsOf(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const scalars: Record<string, unknown> = {};
  for (const name of ['error', 'type', 'code', 'status', 'message', 'param']) {
    const value = record[name];
    if (typeof value === 'string') scalars[name] = value.slice(0, memberLength);
    else if (typeof value === 'number') scalars[name] = value;
  }
  return scalars;
}
