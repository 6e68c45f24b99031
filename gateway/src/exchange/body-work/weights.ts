import { holdsMoreThan } from '#json/index.ts';

/**
 * From which size on work is for a thread: below it, handing the body over costs the main thread more than the work. Bytes,
 * but for `mostValues`.
 */
export interface Weights {
  /** Of a request, to be read, and for whatever is done with it later. */
  readonly read: number;
  /**
   * A request with more members and values than this is read in a thread, however short. Each of them takes up to 2 µs to
   * convert or repair. An agent's 256 KiB hold a third as many.
   */
  readonly mostValues: number;
  /** Of a request, or of what was fetched for it, to be converted. */
  readonly conversion: number;
  /** Of a complete response. */
  readonly response: number;
}

/** Complete responses of at least this many bytes are read in a thread. */
export const largeResponse = 256 * 1024;

export const usualWeights: Weights = Object.freeze({
  read: 1024 * 1024,
  mostValues: 10_000,
  conversion: 256 * 1024,
  response: largeResponse,
});

/** Whether a request's body is read in a thread. */
export function isReadInThread(body: Buffer, { read, mostValues }: Weights): boolean {
  return body.length >= read || holdsMoreThan(body, mostValues);
}
