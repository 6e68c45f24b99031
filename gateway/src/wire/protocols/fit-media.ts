import {
  type Edit,
  elementsAt,
  type KeyedRange,
  membersAt,
  objectStart,
  replaceValue,
  splice,
} from '#json/index.ts';
import { recordsIn } from './input-extent.ts';
import { fittingType, isDressed, undressed } from './media-type.ts';
import { isRecord, type JsonRecord, textOf } from './values.ts';

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
  const edits = named(membersAt(body, objectStart(body, 0) ?? 0), (key) => key === 'contents')
    .flatMap(({ valueStart }) => elementsAt(body, valueStart))
    .flatMap(({ start }) => named(objectAt(body, start), (key) => key === 'parts'))
    .flatMap(({ valueStart }) => elementsAt(body, valueStart))
    .flatMap(({ start }) => named(objectAt(body, start), (key) => inline.has(key)))
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
  const [type] = named(members, (key) => types.has(key));
  const [data] = named(members, (key) => key === 'data');
  if (type === undefined || data === undefined) return [];
  const [declared, written] = [textAt(body, type), textAt(body, data)];
  const base64 = isDressed(written) ? undressed(written) : written;
  const fitting = fittingType(declared, base64);
  return [
    ...(fitting === declared ? [] : [replaceValue(type, fitting)]),
    ...(base64 === written ? [] : [replaceValue(data, base64)]),
  ];
}

function named(members: readonly KeyedRange[], isNamed: (key: string) => boolean): KeyedRange[] {
  return members.filter(({ key }) => isNamed(key));
}

function objectAt(body: Buffer, at: number): KeyedRange[] {
  const start = objectStart(body, at);
  return start === null ? [] : membersAt(body, start);
}

function textAt(body: Buffer, { valueStart, valueEnd }: KeyedRange): string {
  return textOf(JSON.parse(body.toString('utf8', valueStart, valueEnd)));
}
