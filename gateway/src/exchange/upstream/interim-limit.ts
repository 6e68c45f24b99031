import { UpstreamError, type UpstreamHeaders } from './call.ts';

/** More than an upstream sends if it reports progress every ten seconds for the longest possible response. */
const mostResponses = 100;
/** Characters in all fields of interim responses. */
const mostCharacters = 64 * 1024;

/**
 * Limits interim responses. The HTTP client restarts its own time-out with every one, so an occasional interim response
 * would hold a request forever.
 */
export class InterimLimit {
  readonly #giveUp: (error: UpstreamError) => void;
  readonly #timer: NodeJS.Timeout;
  #responses = 0;
  #characters = 0;

  /**
   * @param time milliseconds from now until the response itself must begin
   * @param giveUp called at most once, unless `end` comes first
   */
  constructor(time: number, giveUp: (error: UpstreamError) => void) {
    this.#giveUp = giveUp;
    this.#timer = setTimeout(
      () => {
        giveUp(interimError('first-byte-timeout', `only interim responses within the time`));
      },
      Math.max(time, 0),
    );
  }

  add(headers: UpstreamHeaders): void {
    this.#responses += 1;
    for (const name in headers) this.#characters += name.length + String(headers[name]).length;
    if (this.#responses <= mostResponses && this.#characters <= mostCharacters) return;
    this.end();
    this.#giveUp(interimError('malformed', 'too many interim responses'));
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** No byte of the response itself has arrived. */
function interimError(reason: string, message: string): UpstreamError {
  return new UpstreamError('uncertain', reason, new Error(message));
}
