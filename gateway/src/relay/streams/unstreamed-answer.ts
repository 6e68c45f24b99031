import type { Provider } from '../../providers/index.ts';
import type { UpstreamHeaders } from '../../upstream/index.ts';
import { CollectedBody } from '../attempts/collected-body.ts';
import { errorBodyLimit, failureOfAnswer, isError, parseJson } from '../attempts/error-body.ts';
import { brokenAttempt, type AttemptFailure } from '../attempts/outcome.ts';

/** What an upstream answers in the place of a stream: an error, mostly. Read as far as it takes to judge it. */
export class UnstreamedAnswer {
  readonly #provider: Provider;
  readonly #status: number;
  readonly #headers: UpstreamHeaders;
  readonly #body = new CollectedBody();

  constructor(provider: Provider, status: number, headers: UpstreamHeaders) {
    this.#provider = provider;
    this.#status = status;
    this.#headers = headers;
  }

  /** True when that is enough; some bodies never end. */
  add(chunk: Buffer): boolean {
    this.#body.add(chunk);
    return this.#body.length >= errorBodyLimit;
  }

  judge(): AttemptFailure {
    if (!isError(this.#status)) return brokenAttempt(this.#status, 'started', 'not-a-stream');
    const body = parseJson(this.#body.whole());
    return failureOfAnswer(this.#provider, this.#status, this.#headers, body);
  }
}
