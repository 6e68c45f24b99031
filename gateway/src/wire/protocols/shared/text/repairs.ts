import {
  type Edit,
  elementsAt,
  insertMember,
  type KeyedRange,
  membersAt,
  objectStart,
  type Range,
  replaceValue,
  splice,
} from '#json/index.ts';
import { isAbsent, isRecord, type JsonRecord, textOf, recordsIn } from '../values.ts';
import { fittingType, isDressed, undressed } from '../images/media-type.ts';

/** Messages, and what becomes of those that say nothing. */
interface Turns {
  readonly list: 'messages' | 'contents';
  /** The member that says it. */
  readonly member: 'content' | 'parts';
  readonly isEmpty: (turn: JsonRecord) => boolean;
  /** What is written instead; null: the turn is left out. */
  readonly fill: (turn: JsonRecord) => unknown;
}

/** "Invalid value for 'content': expected a string, got null." The model's own may be, beside calls. */
const ofChat: Turns = {
  list: 'messages',
  member: 'content',
  isEmpty: ({ content, tool_calls: calls, function_call: call, audio, refusal }) =>
    isAbsent(content) && [calls, call, audio, refusal].every(isAbsent),
  fill: () => '',
};

/** "contents.parts must not be empty" */
const ofContents: Turns = {
  list: 'contents',
  member: 'parts',
  isEmpty: ({ parts }) => isAbsent(parts) || (Array.isArray(parts) && parts.every(isNothing)),
  fill: ({ role }) => (role === 'model' ? null : [{ text: '(no content)' }]),
};

function isNothing(part: unknown): boolean {
  return isRecord(part) && part['text'] === '' && Object.keys(part).length === 1;
}

/**
 * A request of chat or generateContent without messages that say nothing. Returns the same buffer if all say something.
 * @param json the request, parsed; absent: it was converted, so its messages are in order
 */
export function fillEmpty(body: Buffer, json: JsonRecord | undefined): Buffer {
  if (json === undefined) return body;
  const turns = [ofChat, ofContents].find(({ list }) => Array.isArray(json[list]));
  if (turns === undefined) return body;
  const listedTurns = json[turns.list] as readonly unknown[];
  if (!recordsIn(listedTurns).some(turns.isEmpty)) return body;
  const start = objectStart(body, 0);
  const list = start === null ? undefined : memberOf(membersAt(body, start), turns.list);
  if (list === undefined) return body;
  const elements = elementsAt(body, list.valueStart);
  const fills = listedTurns.map((turn) =>
    isRecord(turn) && turns.isEmpty(turn) ? turns.fill(turn) : undefined,
  );
  const isKept = fills.map((fill) => fill !== null);
  const edits = elements.flatMap((element, at) =>
    isAbsent(fills[at]) ? [] : filled(body, element, turns.member, fills[at]),
  );
  return splice(body, [...edits, ...removals(elements, isKept)]);
}

function filled(body: Buffer, { start }: Range, name: string, value: unknown): Edit[] {
  const object = objectStart(body, start);
  if (object === null) return [];
  const members = membersAt(body, object);
  const member = memberOf(members, name);
  if (member !== undefined) return [replaceValue(member, value)];
  return [insertMember({ start: object + 1, empty: members.length === 0 }, name, value)];
}

/** Removes elements, each with one comma. The last ones take the comma before them. */
function removals(elements: readonly Range[], isKept: readonly boolean[]): Edit[] {
  const last = isKept.lastIndexOf(true);
  if (last < 0) return [];
  const edits = elements
    .slice(0, last)
    .flatMap(({ start }, at) =>
      isKept[at] === true ? [] : [{ start, end: elements[at + 1]!.start, bytes: nothing }],
    );
  const [kept, end] = [elements[last], elements.at(-1)];
  return last < elements.length - 1 && kept !== undefined && end !== undefined
    ? [...edits, { start: kept.end, end: end.end, bytes: nothing }]
    : edits;
}

const nothing = Buffer.alloc(0);

function memberOf(members: readonly KeyedRange[], name: string): KeyedRange | undefined {
  return members.findLast(({ key }) => key === name);
}

/** The spellings of the members of generateContent that hold media. */
const inline: ReadonlySet<string> = new Set(['inlineData', 'inline_data']);
const types: ReadonlySet<string> = new Set(['mimeType', 'mime_type']);

/**
 * A generateContent request whose media have the type that their bytes show, and plain base64. Returns the same buffer if
 * all have.
 * @param json the request, parsed; absent: it was converted, so its media are in order
 */
export function fitMedia(body: Buffer, json: JsonRecord | undefined): Buffer {
  if (json === undefined || !recordsIn(json['contents']).some(isWrong)) return body;
  const edits = membersNamed(
    membersAt(body, objectStart(body, 0) ?? 0),
    (key) => key === 'contents',
  )
    .flatMap(({ valueStart }) => elementsAt(body, valueStart))
    .flatMap(({ start }) => membersNamed(objectAt(body, start), (key) => key === 'parts'))
    .flatMap(({ valueStart }) => elementsAt(body, valueStart))
    .flatMap(({ start }) => membersNamed(objectAt(body, start), (key) => inline.has(key)))
    .flatMap(({ valueStart }) => editsOf(body, objectAt(body, valueStart)));
  return splice(body, edits);
}

function isWrong({ parts }: JsonRecord): boolean {
  return recordsIn(parts).some((part) => {
    const media = part['inlineData'] ?? part['inline_data'];
    if (!isRecord(media)) return false;
    const type = media['mimeType'] ?? media['mime_type'];
    const data = textOf(media['data']);
    return isDressed(data) || fittingType(type, data) !== type;
  });
}

function editsOf(body: Buffer, members: readonly KeyedRange[]): Edit[] {
  const [type] = membersNamed(members, (key) => types.has(key));
  const [data] = membersNamed(members, (key) => key === 'data');
  if (type === undefined || data === undefined) return [];
  const [declared, written] = [textAt(body, type), textAt(body, data)];
  const base64 = isDressed(written) ? undressed(written) : written;
  const fitting = fittingType(declared, base64);
  return [
    ...(fitting === declared ? [] : [replaceValue(type, fitting)]),
    ...(base64 === written ? [] : [replaceValue(data, base64)]),
  ];
}

function membersNamed(
  members: readonly KeyedRange[],
  isNamed: (key: string) => boolean,
): KeyedRange[] {
  return members.filter(({ key }) => isNamed(key));
}

function objectAt(body: Buffer, at: number): KeyedRange[] {
  const start = objectStart(body, at);
  return start === null ? [] : membersAt(body, start);
}

function textAt(body: Buffer, { valueStart, valueEnd }: KeyedRange): string {
  return textOf(JSON.parse(body.toString('utf8', valueStart, valueEnd)));
}
