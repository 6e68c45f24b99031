import { verdict } from '#protocols/index.ts';
import { EventRun } from './event-run.ts';
import type { StreamSink } from './stream-sink.ts';

/** More than this without content, or after the terminator, is not a response of any protocol. */
const heldLimit = 16 * 1024 * 1024;
/** What keeping an event costs beyond its bytes: tiny ones add up as well. */
const eventCost = 128;

export interface ResponseFlowOptions {
  readonly sink: StreamSink;
  /** Sent with the head when this attempt opens the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called once, when the first content arrives. */
  readonly onFirstContent: () => void;
}

/** Which of a response's events the client gets now: none before there is content, and none from the terminator on. */
export class ResponseFlow {
  readonly #options: ResponseFlowOptions;
  readonly #run: EventRun;
  #stage: /** Failover is still possible. */
    | 'holding'
    /** Events go to the client as they come. */
    | 'flowing'
    /** The success terminator has come: the rest waits for the journal. */
    | 'ending' = 'holding';
  #hasContent = false;
  #held: Buffer[] = [];
  #heldBytes = 0;

  /** @param show writes bytes to the client. */
  constructor(options: ResponseFlowOptions, show: (bytes: Buffer) => void) {
    this.#options = options;
    this.#run = new EventRun(options.sink.framing.verbatim, show);
  }

  get holding(): boolean {
    return this.#stage === 'holding';
  }

  get ending(): boolean {
    return this.#stage === 'ending';
  }

  /**
   * Takes the next event.
   * @param bytes null when the client is not to see it.
   * @param flags the verdict on it.
   * @returns false when more would have to be held than can be right.
   */
  add(bytes: Buffer | null, flags: number): boolean {
    if (this.#stage === 'flowing' && (flags & verdict.terminal) === 0) {
      if (bytes !== null) this.#run.add(bytes);
      return true;
    }
    return this.#beforeOrAfterFlow(bytes, flags);
  }

  #beforeOrAfterFlow(bytes: Buffer | null, flags: number): boolean {
    const isContent = (flags & verdict.content) !== 0;
    if (isContent && !this.#hasContent) {
      this.#hasContent = true;
      this.#options.onFirstContent();
    }
    if ((flags & verdict.terminal) !== 0) {
      this.#run.flush();
      this.#stage = 'ending';
    }
    if (bytes !== null && !this.#hold(bytes)) return false;
    if (isContent && this.#stage === 'holding') {
      this.#stage = 'flowing';
      this.open();
      for (const held of this.takeHeld()) this.#run.add(held);
    }
    return true;
  }

  /** Sends the client the head, if it has not been sent. */
  open(): void {
    this.#options.sink.open(this.#options.headers);
  }

  /** Writes what has been joined so far. */
  flush(): void {
    this.#run.flush();
  }

  /** What the client has not been given. */
  takeHeld(): Buffer[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return held;
  }

  #hold(bytes: Buffer): boolean {
    this.#heldBytes += bytes.length + eventCost;
    if (this.#heldBytes > heldLimit) return false;
    this.#held.push(bytes);
    return true;
  }
}
