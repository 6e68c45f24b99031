import { type Dispatcher, errors } from 'undici';
import { isStaleConnection } from './connector.ts';
import { DecodedAnswer } from './decoded-answer.ts';
import { InterimLimit } from './interim-limit.ts';
import { UpstreamError } from './upstream-error.ts';

export type UpstreamHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What the relay does with an answer as it comes. Exactly one of `onEnd` and `onBreak` is called, once, last. */
export interface UpstreamListener {
  onHead(status: number, headers: UpstreamHeaders): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onBreak(error: UpstreamError): void;
}

/** A call under way. All methods are safe at any time, also after its end. */
export interface UpstreamCall {
  /** The upstream may have seen the request: it was written on a connection, in part or whole. */
  readonly sent: boolean;
  pause(): void;
  resume(): void;
  /** Closes the connection; the listener hears nothing more. */
  abort(): void;
}

/** After so many bytes of one answer others have their turn, though more of it may be there. */
const turnBytes = 64 * 1024;

const abortReason = new errors.RequestAbortedError('no longer wanted');

/**
 * undici's handler for one call. A class because undici calls methods on one object for every chunk; closures
 * per call measured slower. Knows how far the call got, which undici's errors alone do not tell.
 */
export class CallHandler implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #listener: UpstreamListener;
  readonly #onDefect: (error: Error) => void;
  readonly #firstByte: number;
  #controller: Dispatcher.DispatchController | null = null;
  #sent = false;
  /** Of `performance.now()`: when all of the request was handed to the connection; 0: it was not. */
  #sentAt = 0;
  /** Null while no interim answer has come. */
  #interim: InterimLimit | null = null;
  #answered = false;
  #over = false;
  #defect: Error | null = null;
  /** Bytes handed on since the last rest. */
  #turn = 0;
  #resting = false;
  /** By whom the answer goes to. */
  #paused = false;
  /** Null for the usual answer, which is not packed. */
  #decoded: DecodedAnswer | null = null;

  /**
   * @param onDefect told what the listener threw, which the call then breaks with.
   * @param firstByte milliseconds from the end of the request until the answer has to begin, interim answers aside.
   */
  constructor(listener: UpstreamListener, onDefect: (error: Error) => void, firstByte: number) {
    this.#listener = listener;
    this.#onDefect = onDefect;
    this.#firstByte = firstByte;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#sent = true;
    if (this.#over) controller.abort(abortReason);
  }

  /** Called by undici, although its types do not know it. */
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
    this.#answered = true;
    if (headers['content-encoding'] !== undefined) {
      const decoded = this.#decode(headers['content-encoding']);
      if (decoded === undefined) {
        this.#break(
          'unknown-encoding',
          new Error('an answer in an encoding that was not asked for'),
        );
        return;
      }
      this.#decoded = decoded;
    }
    try {
      this.#listener.onHead(statusCode, headers);
    } catch (error) {
      throw this.#told(error);
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    if (this.#decoded !== null) {
      this.#decoded.write(chunk);
      return;
    }
    try {
      this.#listener.onData(chunk);
    } catch (error) {
      throw this.#told(error);
    }
    this.#turn += chunk.length;
    if (this.#turn >= turnBytes) this.#rest();
  }

  onResponseEnd(): void {
    if (this.#over) return;
    if (this.#decoded !== null) {
      this.#decoded.end();
      return;
    }
    // Not over before the listener is done: what it throws comes back through `onResponseError`.
    try {
      this.#listener.onEnd();
    } catch (error) {
      throw this.#told(error);
    }
    this.#over = true;
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#interim?.end();
    this.#decoded?.close();
    this.#listener.onBreak(this.#describe(error));
  }

  get sent(): boolean {
    return this.#sent;
  }

  pause(): void {
    this.#paused = true;
    if (this.#decoded === null) this.#controller?.pause();
    else this.#decoded.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#decoded !== null) this.#decoded.resume();
    else if (!this.#resting) this.#controller?.resume();
  }

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#interim?.end();
    this.#decoded?.close();
    this.#controller?.abort(abortReason);
  }

  /**
   * A fast upstream's bytes are read as long as there are any, up to two megabytes: tiny events of that size take half a
   * second. What is unpacked needs no rest, as it comes in small pieces from another thread.
   */
  #rest(): void {
    this.#turn = 0;
    if (this.#over) return;
    this.#resting = true;
    this.#controller?.pause();
    setImmediate(() => {
      this.#resting = false;
      if (!this.#paused) this.#controller?.resume();
    });
  }

  #limitInterim(): InterimLimit {
    const waited = this.#sentAt === 0 ? 0 : performance.now() - this.#sentAt;
    this.#interim ??= new InterimLimit(this.#firstByte - waited, (error) => {
      if (this.#over) return;
      this.abort();
      this.#listener.onBreak(error);
    });
    return this.#interim;
  }

  #decode(encoding: string | string[]): DecodedAnswer | null | undefined {
    return DecodedAnswer.open(encoding, {
      onData: (chunk) => this.#tell(() => this.#listener.onData(chunk)),
      onEnd: () =>
        this.#tell(() => {
          this.#listener.onEnd();
          this.#over = true;
        }),
      onCorrupt: (error) => this.#break('malformed', error),
      onBomb: () => this.#break('inflated', new Error('an answer packed beyond all measure')),
      pause: () => this.#controller?.pause(),
      resume: () => this.#controller?.resume(),
    });
  }

  /** What the listener throws comes back to it, as it does from undici. */
  #tell(call: () => void): void {
    if (this.#over) return;
    try {
      call();
    } catch (error) {
      this.#break('defect', this.#told(error));
    }
  }

  /** Thrown by the listener, which undici answers by breaking the call with it. */
  #told(error: unknown): Error {
    this.#defect = error as Error;
    this.#onDefect(this.#defect);
    return this.#defect;
  }

  /** Given up for what the upstream sent. */
  #break(reason: string, error: Error): void {
    if (this.#over) return;
    this.abort();
    this.#listener.onBreak(new UpstreamError('started', reason, error));
  }

  #describe(error: Error): UpstreamError {
    const reason =
      error === this.#defect ? 'defect' : (reasonOf(error) ?? (this.#sent ? 'reset' : 'connect'));
    if (this.#answered) return new UpstreamError('started', reason, error);
    if (!this.#sent) return new UpstreamError('not-sent', reason, error);
    if (isStaleConnection(error)) return new UpstreamError('stale-connection', reason, error);
    return new UpstreamError('uncertain', reason, error);
  }
}

/** Codes of Node and of OpenSSL, whose names for what is wrong with a certificate have nothing in common. */
const ofTls =
  /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH|_CA$|INVALID_PURPOSE|EPROTO/;

/** Null for a connection that failed without saying how. */
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
