export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Receives a response as it arrives. Exactly one of `onEnd` and `onBreak` is called, once, last. */
export interface UpstreamListener {
  onHead(status: number, headers: UpstreamHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onBreak(error: UpstreamError): void;
}

/** A call in progress. All methods are safe at any time, also after its end. */
export interface UpstreamCall {
  /** Whether the upstream may have seen the request: at least part of it was written to a connection. */
  readonly isSent: boolean;
  pause(): void;
  resume(): void;
  /** Closes the connection; the listener is not called any more. */
  abort(): void;
}

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

/** Seconds until the upstream wants to be asked again (RFC 9110 section 10.2.3), or null. */
export function retryAfterOf(headers: UpstreamHeaders, now = Date.now()): number | null {
  const milliseconds = Number(text(headers['retry-after-ms']) ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds > 0) return milliseconds / 1000;
  const value = text(headers['retry-after']);
  if (value === undefined || value === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds : null;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
