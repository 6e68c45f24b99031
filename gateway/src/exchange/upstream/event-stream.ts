import type { StreamEvent } from '#protocols/protocol.ts';

export interface EventStreamOptions {
  /** Maximum size of one event in bytes, including its line ends. */
  readonly maxEventBytes: number;
  /** Whether the data of an event that lacks its blank line is whole. Absent: it is JSON or `[DONE]`. */
  readonly isWhole?: (data: Buffer) => boolean;
  readonly onEvent: (event: StreamEvent) => void;
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
export class EventStreamReader {
  readonly #options: EventStreamOptions;
  /** The beginning of an incomplete event, in `#held[0..#partialLength)`. */
  #partial: Buffer = Buffer.alloc(0);
  #partialLength = 0;
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
  #hasBegun = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** @throws EventTooLarge; the reader cannot be used afterwards. */
  push(chunk: Buffer): void {
    const bytes = this.#hasBegun ? chunk : this.#begin(chunk);
    if (bytes === null || bytes.length === 0) return;
    const rest = this.#cut(bytes);
    if (rest < bytes.length) this.#hold(rest === 0 ? bytes : bytes.subarray(rest));
  }

  /**
   * Call it at the end of the body: delivers a last event that lacks its blank line, unless it was cut inside its data.
   */
  end(): void {
    if (!this.#hasBegun && this.#partialLength > 0) this.#hasBegun = true;
    if (this.#partialLength === 0) return;
    const cut = this.#awaitsLineFeed ? this.#take() : this.#complete();
    const event = parseEvent(cut, this.#hasReturns);
    const { isWhole = isJsonOrDone, onEvent } = this.#options;
    if (event.data === null || isWhole(event.data)) onEvent(event);
  }

  /** Drops a byte order mark, which may arrive in pieces; null while that is undecided. */
  #begin(chunk: Buffer): Buffer | null {
    const head = this.#partialLength === 0 ? chunk : Buffer.concat([this.#take(), chunk]);
    const length = Math.min(head.length, byteOrderMark.length);
    const isMark = head.compare(byteOrderMark, 0, length, 0, length) === 0;
    if (isMark && length < byteOrderMark.length) {
      this.#hold(head);
      return null;
    }
    this.#hasBegun = true;
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
      if (feed < i) feed = indexOrEnd(bytes, lineFeed, i);
      if (carriage < i) carriage = indexOrEnd(bytes, carriageReturn, i);
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
    if (this.#partialLength > 0) {
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
    const length = this.#partialLength + bytes.length;
    if (length > this.#options.maxEventBytes) throw this.#tooLarge();
    if (this.#partialLength === 0) {
      this.#partial = bytes.length <= smallRemainder ? Buffer.from(bytes) : bytes;
    } else {
      if (length > this.#partial.length) {
        const size = Math.min(
          Math.max(length, 2 * this.#partial.length),
          this.#options.maxEventBytes,
        );
        const larger = Buffer.allocUnsafeSlow(size);
        this.#partial.copy(larger, 0, 0, this.#partialLength);
        this.#partial = larger;
      }
      bytes.copy(this.#partial, this.#partialLength);
    }
    this.#partialLength = length;
  }

  #take(): Buffer {
    const event = this.#partial.subarray(0, this.#partialLength);
    this.#partial = nothing;
    this.#partialLength = 0;
    return event;
  }

  #complete(): Buffer {
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

function indexOrEnd(bytes: Buffer, byte: number, from: number): number {
  const foundAt = bytes.indexOf(byte, from);
  return foundAt < 0 ? bytes.length : foundAt;
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

const colon = 0x3a;
const space = 0x20;

/** The bytes of `data` and `event`. */
const dataField = Buffer.from('data');
const eventField = Buffer.from('event');

/**
 * Reads the fields of one complete event. `id`, `retry`, comments and unknown fields stay in `raw` only. `hasReturns`
 * false promises that `raw` contains no CR.
 */
function parseEvent(raw: Buffer, hasReturns: boolean): StreamEvent {
  let name: string | null = null;
  let data: Buffer | null = null;
  /** Several data lines, in `joined[0..length)`; allocated for the second line. */
  let joinedLines: Buffer | null = null;
  let length = 0;
  let at = 0;
  while (at < raw.length) {
    const end = hasReturns ? anyLineEnd(raw, at) : indexOrEnd(raw, lineFeed, at);
    if (fieldIs(raw, at, end, dataField)) {
      const value = fieldValue(raw, at + dataField.length, end);
      if (data === null) data = value;
      else {
        if (joinedLines === null) {
          joinedLines = Buffer.allocUnsafe(raw.length);
          length = data.copy(joinedLines);
        }
        joinedLines[length] = lineFeed;
        length += 1 + value.copy(joinedLines, length + 1);
      }
    } else if (fieldIs(raw, at, end, eventField)) {
      const value = fieldValue(raw, at + eventField.length, end);
      name = value.length === 0 ? null : nameOf(value);
    }
    at = end + 1;
  }
  return { raw, name, data: joinedLines === null ? data : joinedLines.subarray(0, length) };
}

/** The LF of a CR LF then reads as an empty line, which is harmless. */
function anyLineEnd(raw: Buffer, at: number): number {
  let i = at;
  while (i < raw.length && raw[i] !== lineFeed && raw[i] !== carriageReturn) i += 1;
  return i;
}

function fieldIs(raw: Buffer, at: number, end: number, field: Buffer): boolean {
  const length = field.length;
  if (end - at < length) return false;
  for (let i = 0; i < length; i += 1) if (raw[at + i] !== field[i]) return false;
  return end - at === length || raw[at + length] === colon;
}

/** The text after the colon, without one space: `data:{}` and `data: {}` are the same. */
function fieldValue(raw: Buffer, colonAt: number, end: number): Buffer {
  const start = raw[colonAt + 1] === space ? colonAt + 2 : colonAt + 1;
  return raw.subarray(Math.min(start, end), end);
}

/** Recent event names by length: the few names of a protocol become strings only once. */
const namesByLength: ({ bytes: Buffer; name: string } | undefined)[] = [];
const longestCachedName = 64;

function nameOf(value: Buffer): string {
  if (value.length > longestCachedName) return value.toString('utf8');
  const cachedName = namesByLength[value.length];
  if (cachedName !== undefined && sameBytes(cachedName.bytes, value)) return cachedName.name;
  const name = value.toString('utf8');
  namesByLength[value.length] = { bytes: Buffer.from(value), name };
  return name;
}

function sameBytes(a: Buffer, b: Buffer): boolean {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}
