import { type Edit, type KeyedRange, membersAt, objectStart, skipSpace } from '#json/index.ts';

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
