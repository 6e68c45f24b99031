/** How far a call got when it broke; it decides what may be tried again. */
export type BreakPoint =
  /** No byte of the request reached the upstream: nothing can have happened there. */
  | 'not-sent'
  /** Sent on a connection that had served before, which the upstream closed at that moment without a byte of answer. */
  | 'stale-connection'
  /** Sent, and no byte of an answer came. */
  | 'uncertain'
  /** The answer had begun. */
  | 'started';

/** A call that ended without a complete answer: connection, time-out, malformed HTTP, or our own abort. */
export class UpstreamError extends Error {
  readonly breakPoint: BreakPoint;
  /** A short word for the usage row: `connect`, `timeout`, `reset`, `malformed`; `defect`: the listener threw. */
  readonly reason: string;

  constructor(breakPoint: BreakPoint, reason: string, cause: unknown) {
    super(`upstream call broke (${breakPoint}, ${reason})`, { cause });
    this.name = 'UpstreamError';
    this.breakPoint = breakPoint;
    this.reason = reason;
  }
}
