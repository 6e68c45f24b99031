import type { UpstreamError } from './upstream-error.ts';

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
  readonly sent: boolean;
  pause(): void;
  resume(): void;
  /** Closes the connection; the listener is not called any more. */
  abort(): void;
}
