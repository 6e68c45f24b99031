import type { UpstreamCall } from '#upstream/index.ts';
import type { Ticker, TickListener, TickRegistration } from '../../exchange/ticker.ts';

/**
 * How long an upstream may take to end its body after the terminator. After that, keeping its connection is not worth
 * it.
 */
const patienceMs = 2_000;

/**
 * Waits for the end of the body after the response is complete. Usually only the last chunk is missing, and then the
 * connection can be kept.
 */
export class EndOfBody implements TickListener {
  readonly #call: UpstreamCall;
  readonly #ticks: TickRegistration;
  readonly #giveUpAt: number;

  constructor(call: UpstreamCall, ticker: Ticker, now: number) {
    this.#call = call;
    this.#giveUpAt = now + patienceMs;
    this.#ticks = ticker.add(this);
  }

  tick(now: number): void {
    if (now >= this.#giveUpAt) this.end();
  }

  end(): void {
    this.come();
    this.#call.abort();
  }

  /** The body has ended by itself. */
  come(): void {
    this.#ticks.end();
  }
}
