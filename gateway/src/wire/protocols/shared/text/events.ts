import { drawJson, type JsonCursor, objectStart, type Edit, splice } from '#json/index.ts';
import { parsePassingOn } from '../exact-json.ts';
import { isRecord, type JsonRecord } from '../values.ts';
import type { StreamEvent } from '../../protocol.ts';

/** Reads what a tap needs from one event's JSON. Returns false if the bytes cannot be walked. */
export interface EventView {
  read(data: Buffer): boolean;
}

/** The place of a value in the bytes of one event. */
export class EventRange {
  start = -1;
  end = -1;

  get isKnown(): boolean {
    return this.start >= 0;
  }

  clear(): void {
    this.start = -1;
    this.end = -1;
  }

  /** Skips the cursor's value and keeps its place. */
  take(cursor: JsonCursor): void {
    this.start = cursor.at;
    this.end = cursor.skip();
  }

  in(data: Buffer): Buffer {
    return data.subarray(this.start, this.end);
  }
}

/**
 * Reads an event by walking its bytes. An event that the walk does not understand (escapes in keys, which is rare) is
 * rewritten first. Returns the bytes that the view's ranges refer to, or null if the data is not a JSON object.
 */
export function readEvent(view: EventView, data: Buffer): Buffer | null {
  if (view.read(data)) return data;
  const value = parseRecord(data);
  if (value === null) return null;
  const plain = Buffer.from(JSON.stringify(value));
  return view.read(plain) ? plain : null;
}

/**
 * Null if the data is not a JSON object, or is nested too deeply.
 * @param passedOn members whose numbers are kept as written. Absent: none
 */
export function parseRecord(data: Buffer, passedOn?: ReadonlySet<string>): JsonRecord | null {
  // An exception of the parser costs ten times what a small event does, and a stream may have 100,000 empty events.
  const maybeObject = objectStart(data, 0) !== null && data.includes(0x7d);
  if (!maybeObject || !drawJson(data)) return null;
  try {
    const value: unknown =
      passedOn === undefined ? JSON.parse(data.toString('utf8')) : parsePassingOn(data, passedOn);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether the data is `[DONE]`, which is not JSON. */
export function isDone(data: Buffer): boolean {
  let i = 0;
  while (data[i] === 0x20) i += 1;
  if (data[i] !== 0x5b || data[i + 1] !== 0x44) return false;
  return data.toString('latin1', i, i + 6) === '[DONE]';
}

/** One server-sent event. `data` must be a single line, as JSON text is. */
export function frame(name: string | null, data: string): string {
  return name === null ? `data: ${data}\n\n` : `event: ${name}\ndata: ${data}\n\n`;
}

/** A comment, which every event-stream parser skips. */
export const commentKeepAlive = ': keep-alive\n\n';

/** The event with edits of its data. Its other bytes stay as received, where possible. */
export function withEdits(event: StreamEvent, data: Buffer, edits: readonly Edit[]): Buffer {
  const { raw } = event;
  const offset = data.byteOffset - raw.byteOffset;
  const isView = data.buffer === raw.buffer && offset >= 0 && offset + data.length <= raw.length;
  if (isView) {
    return splice(
      raw,
      edits.map(({ start, end, bytes }) => ({ start: offset + start, end: offset + end, bytes })),
    );
  }
  // With several data lines, or data that was rewritten, the frame is built anew.
  const lines = splice(data, edits)
    .toString('utf8')
    .split(/\r\n|\n|\r/);
  const name = event.name === null ? '' : `event: ${event.name}\n`;
  return Buffer.from(`${name}${lines.map((line) => `data: ${line}\n`).join('')}\n`);
}

const lastBit = 30;

/**
 * Which choices of a response have begun and which have ended, by index. Bits of two numbers: a stream is read event by
 * event, and this allocates nothing. Indexes beyond the last bit share it; a negative index counts as the first choice.
 */
export class ChoiceSet {
  #begun = 0;
  #ended = 0;

  clear(): void {
    this.#begun = 0;
    this.#ended = 0;
  }

  /** @param isEnd whether the choice has its finish reason. */
  note(index: number, isEnd: boolean): void {
    const bit = 1 << Math.min(Math.max(index, 0), lastBit);
    this.#begun |= bit;
    if (isEnd) this.#ended |= bit;
  }

  addAll(others: ChoiceSet): void {
    this.#begun |= others.#begun;
    this.#ended |= others.#ended;
  }

  get anyBegun(): boolean {
    return this.#begun !== 0;
  }

  get anyEnded(): boolean {
    return this.#ended !== 0;
  }

  /** At least one choice has ended, and every choice that began has. */
  get allEnded(): boolean {
    return this.#ended !== 0 && (this.#begun & ~this.#ended) === 0;
  }
}
