import { beginsAsJson, largestAnswer, streamOf, type WireProtocol } from '#body-work/index.ts';
import { UnreadableResponse } from '#protocols/index.ts';
import type { UpstreamHeaders } from '#upstream/index.ts';
import { CollectedBody } from '#bodies/index.ts';
import {
  errorBodyLimit,
  failureOfResponse,
  isError,
  parseJson,
} from '../../attempts/error-body.ts';
import { brokenAttempt, type AttemptFailure } from '../../attempts/outcome.ts';
import { readInThreadFrom } from '../../attempts/in-thread.ts';

/** A response that came instead of a stream: an error, or the complete response. */
export class UnstreamedResponse {
  readonly #status: number;
  readonly #headers: UpstreamHeaders;
  readonly #body = new CollectedBody();
  /** Null until enough has come to tell. */
  #isAnswer: boolean | null = null;

  constructor(status: number, headers: UpstreamHeaders) {
    this.#status = status;
    this.#headers = headers;
  }

  /** Returns true when there is enough to classify an error; some bodies never end. */
  add(chunk: Buffer): boolean {
    this.#body.add(chunk);
    const { length } = this.#body;
    if (length < errorBodyLimit) return false;
    if (isError(this.#status)) return true;
    this.#isAnswer ??= beginsAsJson(this.#body.whole());
    return !this.#isAnswer || length > largestAnswer;
  }

  get isLarge(): boolean {
    return this.#body.length >= readInThreadFrom;
  }

  /** The whole body. */
  get body(): Buffer {
    return this.#body.whole();
  }

  /** It is a complete response rather than an error. */
  get mayAnswer(): boolean {
    return !isError(this.#status);
  }

  /**
   * The response as a stream.
   * @param model its name at the upstream.
   */
  stream(protocol: WireProtocol, model: string): Buffer | AttemptFailure {
    try {
      return streamOf(this.#body.whole(), protocol, model);
    } catch (error) {
      if (!(error instanceof UnreadableResponse)) throw error;
      return this.unreadable(error);
    }
  }

  unreadable({ body, usage }: UnreadableResponse): AttemptFailure {
    if (body === null) return { ...this.judge(), usage };
    return { ...failureOfResponse(null, this.#headers, body), usage };
  }

  judge(): AttemptFailure {
    if (!isError(this.#status)) return brokenAttempt(this.#status, 'started', 'not-a-stream');
    const body = parseJson(this.#body.whole());
    return failureOfResponse(this.#status, this.#headers, body);
  }
}
