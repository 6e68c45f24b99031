/** How far a call got when it broke; this decides whether it may be retried. */
export type BreakPoint =
  /** No byte of the request reached the upstream, so nothing can have happened there. */
  | 'not-sent'
  /** Sent on a reused connection, which the upstream closed at that moment without a byte of a response. */
  | 'stale-connection'
  /** Sent, and no byte of a response arrived. */
  | 'uncertain'
  /** The response had begun. */
  | 'started';

/** A call without a complete response: connection failure, time-out, malformed HTTP, or our own abort. */
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
