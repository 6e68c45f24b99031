import { type Dispatcher, errors } from 'undici';
import {
  type UpstreamCall,
  UpstreamError,
  type UpstreamHeaders,
  type UpstreamListener,
} from './call.ts';
import { isStaleConnection } from './connector.ts';
import { DecodedResponse } from './decoded-response.ts';
import { InterimLimit } from './interim-limit.ts';

/** After this many bytes of one response, other calls get a turn, even if more bytes are available. */
const turnBytes = 64 * 1024;

const abortReason = new errors.RequestAbortedError('no longer wanted');

/**
 * undici's handler for one call. It is a class because undici calls methods on one object for every chunk, and closures
 * per call measured slower. It tracks how far the call got, which undici's errors alone do not reveal.
 */
export class CallHandler implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #listener: UpstreamListener;
  readonly #onDefect: (error: Error) => void;
  readonly #firstByte: number;
  #controller: Dispatcher.DispatchController | null = null;
  #isSent = false;
  /** Of `performance.now()`: when the whole request was handed to the connection; 0: not yet. */
  #sentAt = 0;
  /** Null until an interim response arrives. */
  #interim: InterimLimit | null = null;
  #hasResponse = false;
  #over = false;
  #defect: Error | null = null;
  /** Bytes passed on since the last rest. */
  #turn = 0;
  #resting = false;
  /** Whether the receiver of the response paused it. */
  #isPaused = false;
  /** Null for an uncompressed response, the usual case. */
  #decodedResponse: DecodedResponse | null = null;

  /**
   * @param onDefect receives an error that the listener threw; the call breaks with it
   * @param firstByte milliseconds from the end of the request until the response must begin, not counting interim
   * responses
   */
  constructor(listener: UpstreamListener, onDefect: (error: Error) => void, firstByte: number) {
    this.#listener = listener;
    this.#onDefect = onDefect;
    this.#firstByte = firstByte;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#isSent = true;
    if (this.#over) controller.abort(abortReason);
  }

  /** Called by undici, although its types do not declare it. */
  onRequestSent(): void {
    this.#sentAt = performance.now();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: UpstreamHeaders,
  ): void {
    if (this.#over) return;
    if (statusCode < 200) {
      this.#limitInterim().add(headers);
      return;
    }
    this.#interim?.end();
    this.#hasResponse = true;
    if (headers['content-encoding'] !== undefined) {
      const decodedResponse = this.#decode(headers['content-encoding']);
      if (decodedResponse === undefined) {
        this.#break(
          'unknown-encoding',
          new Error('a response in an encoding that was not requested'),
        );
        return;
      }
      this.#decodedResponse = decodedResponse;
    }
    try {
      this.#listener.onHead(statusCode, headers);
    } catch (error) {
      throw this.#reportDefect(error);
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#decodedResponse !== null) {
      this.#decodedResponse.write(chunk);
      return;
    }
    try {
      this.#listener.onData(chunk);
    } catch (error) {
      throw this.#reportDefect(error);
    }
    this.#turn += chunk.length;
    if (this.#turn >= turnBytes) this.#rest();
  }

  onResponseEnd(): void {
    if (this.#over) return;
    if (this.#decodedResponse !== null) {
      this.#decodedResponse.end();
      return;
    }
    // The call ends only after the listener has returned: an error that it throws comes back through `onResponseError`.
    try {
      this.#listener.onEnd();
    } catch (error) {
      throw this.#reportDefect(error);
    }
    this.#over = true;
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#interim?.end();
    this.#decodedResponse?.close();
    this.#listener.onBreak(this.#describe(error));
  }

  get isSent(): boolean {
    return this.#isSent;
  }

  /** Whether the listener is not called any more. */
  get isOver(): boolean {
    return this.#over;
  }

  pause(): void {
    this.#isPaused = true;
    if (this.#decodedResponse === null) this.#controller?.pause();
    else this.#decodedResponse.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#decodedResponse !== null) this.#decodedResponse.resume();
    else if (!this.#resting) this.#controller?.resume();
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#interim?.end();
    this.#decodedResponse?.close();
    this.#controller?.abort(abortReason);
  }

  /**
   * A fast upstream's bytes are read as long as there are any, up to two megabytes; tiny events of that size take half
   * a second. Decompressed data needs no rest, because it arrives in small pieces from another thread.
   */
  #rest(): void {
    this.#turn = 0;
    if (this.#over) return;
    this.#resting = true;
    this.#controller?.pause();
    setImmediate(() => {
      this.#resting = false;
      if (!this.#isPaused) this.#controller?.resume();
    });
  }

  #limitInterim(): InterimLimit {
    const waitedMs = this.#sentAt === 0 ? 0 : performance.now() - this.#sentAt;
    this.#interim ??= new InterimLimit(this.#firstByte - waitedMs, (error) => {
      if (this.#over) return;
      this.abort();
      this.#listener.onBreak(error);
    });
    return this.#interim;
  }

  #decode(encoding: string | string[]): DecodedResponse | null | undefined {
    return DecodedResponse.open(encoding, {
      onData: (chunk) => this.#tell(() => this.#listener.onData(chunk)),
      onEnd: () =>
        this.#tell(() => {
          this.#listener.onEnd();
          this.#over = true;
        }),
      onCorrupt: (error) => this.#break('malformed', error),
      onBomb: () => this.#break('inflated', new Error('a decompression bomb')),
      pause: () => this.#controller?.pause(),
      resume: () => this.#controller?.resume(),
    });
  }

  /** An error that the listener throws comes back to it, as it does from undici. */
  #tell(call: () => void): void {
    if (this.#over) return;
    try {
      call();
    } catch (error) {
      this.#break('defect', this.#reportDefect(error));
    }
  }

  /** Handles an error thrown by the listener; undici then breaks the call with it. */
  #reportDefect(error: unknown): Error {
    this.#defect = error as Error;
    this.#onDefect(this.#defect);
    return this.#defect;
  }

  /** Gives the call up because of what the upstream sent. */
  #break(reason: string, error: Error): void {
    if (this.#over) return;
    this.abort();
    this.#listener.onBreak(new UpstreamError('started', reason, error));
  }

  #describe(error: Error): UpstreamError {
    const reason =
      error === this.#defect ? 'defect' : (reasonOf(error) ?? (this.#isSent ? 'reset' : 'connect'));
    if (this.#hasResponse) return new UpstreamError('started', reason, error);
    if (!this.#isSent) return new UpstreamError('not-sent', reason, error);
    if (isStaleConnection(error)) return new UpstreamError('stale-connection', reason, error);
    return new UpstreamError('uncertain', reason, error);
  }
}

/** Codes of Node and of OpenSSL for certificate problems; their names have nothing in common. */
const ofTls =
  /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH|_CA$|INVALID_PURPOSE|EPROTO/;

/** Null for a connection that failed without a reason. */
function reasonOf(error: Error): string | null {
  const code = (error as { code?: unknown }).code;
  if (error instanceof errors.ConnectTimeoutError) return 'connect-timeout';
  if (error instanceof errors.HeadersTimeoutError) return 'first-byte-timeout';
  if (error instanceof errors.BodyTimeoutError) return 'idle-timeout';
  if (error instanceof errors.HTTPParserError || error instanceof errors.HeadersOverflowError) {
    return 'malformed';
  }
  if (error instanceof errors.ResponseContentLengthMismatchError) return 'cut';
  return typeof code === 'string' && ofTls.test(code) ? 'tls' : null;
}
