import type { UpstreamHeaders } from './call.ts';
import { UpstreamError } from './upstream-error.ts';

/** More than an upstream sends that reports progress every ten seconds for as long as an answer may take. */
const mostAnswers = 100;
/** Characters of all their fields. */
const mostCharacters = 64 * 1024;

/**
 * Bounds what an upstream may send before its answer. The HTTP client starts its own time-out anew with every interim
 * answer, so that one of them now and then would hold a request for ever.
 */
export class InterimLimit {
  readonly #giveUp: (error: UpstreamError) => void;
  readonly #timer: NodeJS.Timeout;
  #answers = 0;
  #characters = 0;

  /**
   * @param time milliseconds from now until the answer itself has to begin.
   * @param giveUp called at most once, unless `end` comes first.
   */
  constructor(time: number, giveUp: (error: UpstreamError) => void) {
    this.#giveUp = giveUp;
    this.#timer = setTimeout(
      () => {
        giveUp(broken('first-byte-timeout', `only interim answers within the time`));
      },
      Math.max(time, 0),
    );
  }

  add(headers: UpstreamHeaders): void {
    this.#answers += 1;
    for (const name in headers) this.#characters += name.length + String(headers[name]).length;
    if (this.#answers <= mostAnswers && this.#characters <= mostCharacters) return;
    this.end();
    this.#giveUp(broken('malformed', 'too many interim answers'));
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** Nothing of the answer itself has come. */
function broken(reason: string, message: string): UpstreamError {
  return new UpstreamError('uncertain', reason, new Error(message));
}
