import type { StreamEvent } from '#protocols/protocol.ts';
import { parseEvent } from './event-fields.ts';

export interface EventStreamOptions {
  /** Maximum size of one event in bytes, including its line ends. */
  readonly maxEventBytes: number;
  /** Whether the data of an event that lacks its blank line is whole. Absent: it is JSON or `[DONE]`. */
  readonly isWhole?: (data: Buffer) => boolean;
  readonly onEvent: (event: StreamEvent) => void;
}

export interface EventStreamReader {
  /** @throws EventTooLarge; the reader cannot be used afterwards. */
  push(chunk: Buffer): void;
  /**
   * Call it at the end of the body: delivers a last event that lacks its blank line, unless it was cut inside its data.
   */
  end(): void;
}

/** More lines than the data of any protocol's event has. Each line costs time, however short it is. */
const maxEventLines = 16_384;

/** An upstream event beyond a limit. */
export class EventTooLarge extends Error {
  constructor(most: string) {
    super(`event of more than ${most}`);
    this.name = 'EventTooLarge';
  }
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const blankLine = Buffer.from('\n\n');
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** A remainder this small is copied, so that an idle stream does not keep a whole network chunk alive. */
const smallRemainder = 2048;

/**
 * Splits a body into server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). The chunk
 * boundaries of the network make no difference. An event within one chunk is a view of it; other events are copied at
 * most a constant number of times.
 */
export function createEventStreamReader(options: EventStreamOptions): EventStreamReader {
  return new Reader(options);
}

class Reader implements EventStreamReader {
  readonly #options: EventStreamOptions;
  /** The beginning of an incomplete event, in `#held[0..#heldLength)`. */
  #held: Buffer = Buffer.alloc(0);
  #heldLength = 0;
  /** Whether the current line has bytes. */
  #inLine = false;
  /** The number of lines of the current event. */
  #lines = 0;
  /** Whether the previous byte was a CR that ended a line; a following LF belongs to it. */
  #afterReturn = false;
  /** Whether the current event contains a CR. */
  #hasReturns = false;
  /** A blank line ended in a CR at the very end of a chunk: the event ends with the LF that may follow. */
  #awaitsLineFeed = false;
  #begun = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    const bytes = this.#begun ? chunk : this.#begin(chunk);
    if (bytes === null || bytes.length === 0) return;
    const rest = this.#cut(bytes);
    if (rest < bytes.length) this.#hold(rest === 0 ? bytes : bytes.subarray(rest));
  }

  end(): void {
    if (!this.#begun && this.#heldLength > 0) this.#begun = true;
    if (this.#heldLength === 0) return;
    const cut = this.#awaitsLineFeed ? this.#take() : this.#completed();
    const event = parseEvent(cut, this.#hasReturns);
    const { isWhole = isJsonOrDone, onEvent } = this.#options;
    if (event.data === null || isWhole(event.data)) onEvent(event);
  }

  /** Drops a byte order mark, which may arrive in pieces; null while that is undecided. */
  #begin(chunk: Buffer): Buffer | null {
    const head = this.#heldLength === 0 ? chunk : Buffer.concat([this.#take(), chunk]);
    const length = Math.min(head.length, byteOrderMark.length);
    const isMark = head.compare(byteOrderMark, 0, length, 0, length) === 0;
    if (isMark && length < byteOrderMark.length) {
      this.#hold(head);
      return null;
    }
    this.#begun = true;
    return isMark ? head.subarray(length) : head;
  }

  /** Delivers the events that end in these bytes; returns where the unfinished one begins. */
  #cut(bytes: Buffer): number {
    const length = bytes.length;
    let eventStart = 0;
    let i = 0;
    if (this.#awaitsLineFeed) {
      this.#awaitsLineFeed = false;
      if (bytes[0] === lineFeed) i = 1;
      this.#deliver(bytes, 0, i);
      eventStart = i;
    }
    let feed = -1;
    let carriage = -1;
    while (i < length) {
      if (feed < i) feed = position(bytes, lineFeed, i);
      if (carriage < i) carriage = position(bytes, carriageReturn, i);
      const end = feed < carriage ? feed : carriage;
      if (end > i) {
        this.#inLine = true;
        this.#afterReturn = false;
        if (end === length) break;
      }
      i = end + 1;
      if (end === feed) {
        const ofReturn = this.#afterReturn;
        this.#afterReturn = false;
        if (ofReturn || this.#leaveLine()) continue;
      } else {
        const afterBareReturn = this.#afterReturn;
        this.#afterReturn = true;
        this.#hasReturns = true;
        if (this.#leaveLine()) continue;
        // If lines of this stream end in bare CRs, the event ends here. Otherwise an LF may belong to its blank line.
        if (!afterBareReturn) {
          this.#afterReturn = false;
          if (i === length) {
            this.#awaitsLineFeed = true;
            break;
          }
          if (bytes[i] === lineFeed) i += 1;
        }
      }
      this.#deliver(bytes, eventStart, i);
      eventStart = i;
    }
    return eventStart;
  }

  /** False if the line was blank. @throws EventTooLarge */
  #leaveLine(): boolean {
    const inLine = this.#inLine;
    this.#inLine = false;
    if (inLine) {
      this.#lines += 1;
      if (this.#lines > maxEventLines) throw this.#tooLarge(`${maxEventLines} lines`);
    }
    return inLine;
  }

  #deliver(bytes: Buffer, start: number, end: number): void {
    let raw: Buffer;
    if (this.#heldLength > 0) {
      if (end > start) this.#hold(bytes.subarray(start, end));
      raw = this.#take();
    } else {
      raw = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
      if (raw.length > this.#options.maxEventBytes) throw this.#tooLarge();
    }
    const hasReturns = this.#hasReturns;
    this.#hasReturns = false;
    this.#lines = 0;
    this.#options.onEvent(parseEvent(raw, hasReturns));
  }

  #hold(bytes: Buffer): void {
    const length = this.#heldLength + bytes.length;
    if (length > this.#options.maxEventBytes) throw this.#tooLarge();
    if (this.#heldLength === 0) {
      this.#held = bytes.length <= smallRemainder ? Buffer.from(bytes) : bytes;
    } else {
      if (length > this.#held.length) {
        const size = Math.min(Math.max(length, 2 * this.#held.length), this.#options.maxEventBytes);
        const larger = Buffer.allocUnsafeSlow(size);
        this.#held.copy(larger, 0, 0, this.#heldLength);
        this.#held = larger;
      }
      bytes.copy(this.#held, this.#heldLength);
    }
    this.#heldLength = length;
  }

  #take(): Buffer {
    const taken = this.#held.subarray(0, this.#heldLength);
    this.#held = nothing;
    this.#heldLength = 0;
    return taken;
  }

  #completed(): Buffer {
    // After a bare CR the first LF would only extend that line end.
    const isOneShort = this.#inLine || this.#afterReturn;
    return Buffer.concat([this.#take(), isOneShort ? blankLine : blankLine.subarray(1)]);
  }

  #tooLarge(most = `${this.#options.maxEventBytes} bytes`): EventTooLarge {
    this.#take();
    return new EventTooLarge(most);
  }
}

const nothing = Buffer.alloc(0);

function position(bytes: Buffer, byte: number, from: number): number {
  const found = bytes.indexOf(byte, from);
  return found < 0 ? bytes.length : found;
}

/** A body that ended inside an event's JSON must not be passed on: it would break the client's parser. */
function isJsonOrDone(data: Buffer): boolean {
  const text = data.toString('utf8');
  if (text.startsWith('[DONE]')) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
