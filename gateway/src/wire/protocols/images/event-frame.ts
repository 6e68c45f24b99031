import {
  type Edit,
  type KeyedRange,
  membersAt,
  objectStart,
  skipSpace,
  elementsAt,
} from '#json/index.ts';
import type { EventPieces } from '../shared/images/image-stream.ts';

/** The data of an event, and what changes in it. Images are megabytes, so they are not copied. */
export interface EventData {
  /** A JSON object. */
  readonly json: Buffer;
  /** Its own members by name. Of repeated ones the last counts. */
  readonly members: ReadonlyMap<string, KeyedRange>;
  readonly edits: Edit[];
  /** Members that come before its own, as JSON text. */
  readonly inserted: Buffer[];
}

const closeBrace = 0x7d;
const lineFeed = 0x0a;
const space = 0x20;
const frameEnd = Buffer.from('\n\n');

/** @param json an object that has been parsed */
export function eventData(json: Buffer): EventData {
  return { json, members: membersOf(json), edits: [], inserted: [] };
}

export function membersOf(json: Buffer): ReadonlyMap<string, KeyedRange> {
  const start = objectStart(json, 0);
  const members = start === null ? [] : membersAt(json, start);
  return new Map(members.map((member) => [member.key, member]));
}

/**
 * Gives a member another value.
 * @param value JSON text
 */
export function setMember(
  { members, edits, inserted }: EventData,
  key: string,
  value: Buffer,
): void {
  const own = members.get(key);
  if (own === undefined) inserted.push(Buffer.from(`${JSON.stringify(key)}:`), value, comma);
  else edits.push({ start: own.valueStart, end: own.valueEnd, bytes: value });
}

/** The value of a member as JSON text; null if there is none. */
export function valueOf({ json, members }: Pick<EventData, 'json' | 'members'>, key: string) {
  const member = members.get(key);
  return member === undefined ? null : json.subarray(member.valueStart, member.valueEnd);
}

/** One complete event, in pieces. Line ends in its data, which is JSON, are only space. */
export function frameOf(name: string, { json, edits, inserted }: EventData): Buffer[] {
  const data = json.includes(lineFeed) ? onOneLine(json) : json;
  const start = (objectStart(data, 0) ?? 0) + 1;
  const isEmpty = data[skipSpace(data, start)] === closeBrace;
  const pieces = [
    Buffer.from(`event: ${name}\ndata: `),
    data.subarray(0, start),
    ...(isEmpty ? inserted.slice(0, -1) : inserted),
  ];
  let from = start;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    pieces.push(data.subarray(from, edit.start), edit.bytes);
    from = edit.end;
  }
  pieces.push(data.subarray(from), frameEnd);
  return pieces;
}

const comma = Buffer.from(',');

function onOneLine(json: Buffer): Buffer {
  const line = Buffer.from(json);
  let at = line.indexOf(lineFeed);
  while (at >= 0) {
    line[at] = space;
    at = line.indexOf(lineFeed, at + 1);
  }
  return line;
}

/** Members of a response that describe its images: events have them too. */
const described = ['created', 'background', 'output_format', 'quality', 'size', 'model'];

/** The first letter of `null`. */
const firstOfNull = 0x6e;
const succeeded = 'image_generation.completed';
const failed = 'image_generation.partial_failed';

/**
 * The events of an equivalent stream, for a response that came whole although a stream was asked for: a final image for
 * each entry, the usage with the last. An entry that is an error becomes the event of a failed one.
 * @param json a response that `readResponse` has read
 */
export function* toEvents(json: Buffer): Generator<EventPieces> {
  const response = { json, members: membersOf(json) };
  const data = response.members.get('data');
  const entries = data === undefined ? [] : elementsAt(json, data.valueStart);
  const usage = valueOf(response, 'usage');
  for (const [index, { start, end }] of entries.entries()) {
    const event = eventData(json.subarray(start, end));
    const failure = valueOf(event, 'error');
    const isFailed = failure !== null && failure[0] !== firstOfNull;
    const isLast = index === entries.length - 1;
    const type = isFailed ? failed : succeeded;
    setMember(event, 'type', Buffer.from(JSON.stringify(type)));
    if (!isFailed) {
      for (const key of described) {
        const value = valueOf(response, key);
        if (value !== null && !event.members.has(key)) setMember(event, key, value);
      }
      if (isLast && usage !== null) setMember(event, 'usage', usage);
    }
    yield piecesOf(type, event);
    // The usage of a set whose last image failed.
    if (isLast && isFailed && usage !== null) {
      const rest = eventData(Buffer.from(`{"type":"${succeeded}"}`));
      setMember(rest, 'usage', usage);
      yield piecesOf(succeeded, rest);
    }
  }
}

function piecesOf(name: string, event: EventData): EventPieces {
  const pieces = frameOf(name, event);
  return { name, pieces, dataStart: pieces[0]?.length ?? 0 };
}
