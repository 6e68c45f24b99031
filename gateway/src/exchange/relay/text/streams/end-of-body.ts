import type { UpstreamCall } from '#upstream/index.ts';
import type { Ticker, TickListener, TickRegistration } from '../../exchange/ticker.ts';

/** After the terminator an upstream may take so long to end its body; then its connection is not worth keeping. */
const patienceMs = 2_000;

/** The body of a response that is complete: usually just its last chunk is on the way, and the connection is kept. */
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

  /** It has ended by itself. */
  come(): void {
    this.#ticks.end();
  }
}
