import {
  textOfTerms,
  unreadableOf,
  type ResponseResult,
  type BodyPool,
  type RunningJob,
} from '#body-work/index.ts';
import type { TextProtocolName } from '#canonical/index.ts';
import type { ConvertedRequest } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ResponseEcho } from '#protocols/index.ts';
import { threadRefused, type ReadingResponse } from '../attempts/response-reader.ts';

/** The exchange whose responses are read. */
export interface ResponseSource {
  readonly bodies: BodyPool;
  /** Keys take turns at the threads. */
  readonly keyId: string;
  /** The upstream's protocol. */
  readonly upstream: TextProtocolName;
  readonly echo: ResponseEcho;
  /** Null when the client speaks the upstream's protocol. */
  readonly converted: Pick<ConvertedRequest, 'terms' | 'learn'> | null;
}

export interface WholeResponse extends Omit<Extract<ResponseResult, { kind: 'whole' }>, 'body'> {
  readonly body: Buffer;
}

/** Has responses read in threads if they are too large for this one. */
export class LargeResponses {
  readonly #source: ResponseSource;

  constructor(source: ResponseSource) {
    this.#source = source;
  }

  /** @param body is handed over. */
  whole(body: Buffer): ReadingResponse<WholeResponse> {
    return this.#read(body, 'whole', (response) => {
      if (response.kind !== 'whole') throw new TypeError('no whole response');
      this.#source.converted?.learn(response);
      // The pool returns bodies as Buffers.
      return { ...response, body: response.body as Buffer };
    });
  }

  /**
   * Turns a complete response into events, because a stream was requested.
   * @param body is handed over.
   */
  stream(body: Buffer): ReadingResponse<Buffer> {
    return this.#read(body, 'stream', (response) => {
      if (response.kind !== 'stream') throw new TypeError('no stream');
      return response.body as Buffer;
    });
  }

  #read<Value>(
    body: Buffer,
    form: 'whole' | 'stream',
    take: (response: ResponseResult) => Value,
  ): ReadingResponse<Value> {
    const { bodies, keyId, upstream, echo, converted } = this.#source;
    // A stream's events are converted later, one by one, when they are written.
    const terms = converted === null || form === 'stream' ? null : textOfTerms(converted.terms);
    const job = { kind: 'response', body, form, upstream, echo, terms } as const;
    const running: RunningJob<ResponseResult> = bodies.run<'response'>(keyId, job);
    return {
      result: running.result.then(resultOf, threadRefused).then(take),
      abandon: () => running.abandon(new GatewayError('unavailable')),
    };
  }
}

function resultOf({ outcome }: Awaited<RunningJob<ResponseResult>['result']>): ResponseResult {
  if ('error' in outcome) throw outcome.error;
  const { value } = outcome;
  if (value.kind !== 'unreadable') return value;
  throw unreadableOf(value);
}
