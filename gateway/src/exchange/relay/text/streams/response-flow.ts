import { verdict } from '#protocols/index.ts';
import type { StreamSink } from '../../stream-sink.ts';

/** More bytes than this without content, or after the terminator, occur in no protocol. */
const heldLimit = 16 * 1024 * 1024;
/** What an event costs in memory beyond its bytes, because many tiny ones add up. */
const eventCost = 128;

export interface ResponseFlowOptions {
  readonly sink: StreamSink;
  /** Sent with the head when this attempt opens the response. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called once, when the first content arrives. */
  readonly onFirstContent: () => void;
}

/**
 * Decides which of a response's events the client gets now: none before the first content, and none from the terminator
 * on.
 */
export class ResponseFlow {
  readonly #options: ResponseFlowOptions;
  readonly #run: EventRun;
  stage: /** Failover is still possible. */
    | 'holding'
    /** Events pass to the client as they come. */
    | 'flowing'
    /** The terminator of a successful response has come; the rest waits for the journal. */
    | 'ending' = 'holding';
  #hasContent = false;
  #heldEvents: Buffer[] = [];
  #heldBytes = 0;

  /** @param run takes what the client gets; the caller flushes it. */
  constructor(options: ResponseFlowOptions, run: EventRun) {
    this.#options = options;
    this.#run = run;
  }

  /**
   * Takes the next event.
   * @param bytes null if the client must not see it.
   * @param flags the tap's verdict on it.
   * @returns false when too much would have to be held.
   */
  add(bytes: Buffer | null, flags: number): boolean {
    if (this.stage === 'flowing' && (flags & verdict.terminal) === 0) {
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
      this.stage = 'ending';
    }
    if (bytes !== null) {
      this.#heldBytes += bytes.length + eventCost;
      if (this.#heldBytes > heldLimit) return false;
      this.#heldEvents.push(bytes);
    }
    if (isContent && this.stage === 'holding') {
      this.stage = 'flowing';
      const { sink, headers } = this.#options;
      sink.open(headers);
      for (const heldEvents of this.takeHeld()) this.#run.add(heldEvents);
    }
    return true;
  }

  /** The bytes that the client has not been given. */
  takeHeld(): Buffer[] {
    const heldEvents = this.#heldEvents;
    this.#heldEvents = [];
    this.#heldBytes = 0;
    return heldEvents;
  }
}

/**
 * Joins neighbouring events of one network chunk into one write. It keeps offsets only and copies no bytes. Without
 * `joins` each event is written alone, for framings that need single events.
 */
export class EventRun {
  #buffer: ArrayBufferLike | null = null;
  #start = 0;
  #end = 0;
  readonly #write: (bytes: Buffer) => void;

  readonly #joins: boolean;

  constructor(joins: boolean, write: (bytes: Buffer) => void) {
    this.#joins = joins;
    this.#write = write;
  }

  add(bytes: Buffer): void {
    if (this.#joins && this.#buffer === bytes.buffer && this.#end === bytes.byteOffset) {
      this.#end += bytes.length;
      return;
    }
    this.flush();
    this.#buffer = bytes.buffer;
    this.#start = bytes.byteOffset;
    this.#end = bytes.byteOffset + bytes.length;
  }

  /** Writes the events that have been joined so far. */
  flush(): void {
    if (this.#buffer === null) return;
    const bytes = Buffer.from(this.#buffer, this.#start, this.#end - this.#start);
    this.#buffer = null;
    this.#write(bytes);
  }
}
