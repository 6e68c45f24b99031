import { drawJson, type JsonCursor, openAnswerBudget } from '#json/index.ts';
import { parsePassingOn } from './exact-json.ts';
import { isRecord, type JsonRecord } from './values.ts';

/** Picks what a tap needs out of one event's JSON; false when the bytes cannot be walked. No effect on the tap. */
export interface EventView {
  read(data: Buffer): boolean;
}

/** Where a value stands in the bytes of one event. */
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

  /** Skips the value at hand, and remembers where it was. */
  take(cursor: JsonCursor): void {
    this.start = cursor.at;
    this.end = cursor.skip();
  }

  in(data: Buffer): Buffer {
    return data.subarray(this.start, this.end);
  }
}

/**
 * Reads an event by walking its bytes. The rare event that the walk does not understand (escapes in keys) is
 * brought into plain form first. Answers the bytes that the view's positions refer to, null when the data is not
 * a JSON object.
 */
export function readEvent(view: EventView, data: Buffer): Buffer | null {
  if (view.read(data)) return data;
  const value = parseRecord(data);
  if (value === null) return null;
  const plain = Buffer.from(JSON.stringify(value));
  return view.read(plain) ? plain : null;
}

/** Null if it is not a JSON object, or is nested too deep. */
export function parseRecord(data: Buffer): JsonRecord | null {
  try {
    if (!drawJson(data, openAnswerBudget())) return null;
    const value: unknown = JSON.parse(data.toString('utf8'));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** The same, the numbers in the named members as they were written. */
export function parseRecordPassingOn(data: Buffer, names: ReadonlySet<string>): JsonRecord | null {
  try {
    if (!drawJson(data, openAnswerBudget())) return null;
    const value: unknown = parsePassingOn(data, names);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** `data: [DONE]`, which no JSON starts with. */
export function isDone(data: Buffer): boolean {
  let i = 0;
  while (data[i] === 0x20) i += 1;
  if (data[i] !== 0x5b || data[i + 1] !== 0x44) return false;
  return data.toString('latin1', i, i + 6) === '[DONE]';
}
