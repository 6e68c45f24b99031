import type { ImageRequest, ImageShape, ImageSource } from '#canonical/index.ts';
import { LongText, parseWithLongTexts, type ParseRoom } from '#json/index.ts';
import { readInlineImage, readSource, readText } from '../../shared/images/image-text.ts';
import {
  refuseValue,
  requireOneOf,
  readNumber,
  readRecord,
  readString,
} from '../../shared/text/request-values.ts';
import { isRecord, type JsonRecord } from '../../shared/values.ts';
import { camelCase, member, otherMembers, readRecords } from '../fields.ts';

/** Images that one request may ask for, as of images. */
const mostImages = 10;

const knownMembers: ReadonlySet<string> = new Set(['contents', 'generationConfig', 'model']);
const knownConfig: ReadonlySet<string> = new Set([
  'responseModalities',
  'candidateCount',
  'imageConfig',
]);
const knownImageConfig: ReadonlySet<string> = new Set(['aspectRatio', 'imageSize']);

/**
 * Reads a request for images: the last turn of the user, the number of candidates, and the shape.
 * @throws GatewayError `invalid_body`, `too_complex`, `missing_parameter`, `invalid_value`, and what `room` throws.
 */
export function decodeImageRequest(body: Buffer, room?: ParseRoom): ImageRequest {
  const json = parseWithLongTexts(body, room);
  requireOneOf([json['contents']], 'contents');
  const config = readRecord(member(json, 'generationConfig'), 'generationConfig') ?? {};
  const imageParam = 'generationConfig.imageConfig';
  const image = readRecord(member(config, 'imageConfig'), imageParam);
  const others = [
    ...namesIn(json, knownMembers, ''),
    ...namesIn(config, knownConfig, 'generationConfig.'),
    ...namesIn(image ?? {}, knownImageConfig, `${imageParam}.`),
  ];
  const turn = lastOfUser(json['contents']);
  if (turn.isOneOfSeveral) others.push('contents');
  return {
    ...readParts(turn),
    mask: null,
    count: readCount(member(config, 'candidateCount')),
    shape: image === null ? null : readShape(image, imageParam),
    quality: null,
    background: null,
    format: null,
    moderation: null,
    others,
  };
}

/** Images that the upstream of another protocol would be asked for. */
function readCount(value: unknown): number | null {
  const param = 'generationConfig.candidateCount';
  const count = readNumber(value, param);
  if (count === null || (Number.isInteger(count) && count >= 1 && count <= mostImages)) {
    return count;
  }
  return refuseValue(param, `must be an integer from 1 to ${mostImages}`);
}

function readShape(image: JsonRecord, param: string): ImageShape | null {
  const ratio = readString(member(image, 'aspectRatio'), `${param}.aspectRatio`);
  const resolution = readString(member(image, 'imageSize'), `${param}.imageSize`);
  return ratio === null && resolution === null ? null : { kind: 'frame', ratio, resolution };
}

interface UserTurn {
  readonly parts: unknown;
  readonly param: string;
  readonly isOneOfSeveral: boolean;
}

/** @throws GatewayError `invalid_value` without a turn of the user. */
function lastOfUser(contents: unknown): UserTurn {
  if (typeof contents === 'string' || contents instanceof LongText) {
    return { parts: { text: contents }, param: 'contents', isOneOfSeveral: false };
  }
  const turns = readRecords(contents, 'contents');
  const index = turns.findLastIndex((turn) => (member(turn, 'role') ?? 'user') === 'user');
  const turn = turns[index];
  if (turn === undefined) refuseValue('contents', 'must have a turn of the user');
  const param = `contents[${index}].parts`;
  return { parts: member(turn, 'parts'), param, isOneOfSeveral: turns.length > 1 };
}

function readParts({ parts, param }: UserTurn): Pick<ImageRequest, 'prompt' | 'sources'> {
  const texts: string[] = [];
  const sources: ImageSource[] = [];
  for (const [index, part] of readRecords(parts, param).entries()) {
    const place = `${param}[${index}]`;
    const text = readText(part['text'], `${place}.text`);
    if (text !== null) texts.push(text);
    const data = readRecord(member(part, 'inlineData'), `${place}.inlineData`);
    if (data !== null) sources.push(readInline(data, `${place}.inlineData`));
    const file = readRecord(member(part, 'fileData'), `${place}.fileData`);
    if (file !== null)
      sources.push(readSource(member(file, 'fileUri'), `${place}.fileData.fileUri`));
  }
  const prompt = texts.join('\n');
  if (prompt.trim() === '') refuseValue(param, 'must have a text for the pictures');
  return { prompt, sources };
}

function readInline(data: JsonRecord, param: string): ImageSource {
  const mime = readString(member(data, 'mimeType'), `${param}.mimeType`) ?? '';
  return readInlineImage(member(data, 'data'), mime, param);
}

function namesIn(record: JsonRecord, namedMembers: ReadonlySet<string>, before: string): string[] {
  return otherMembers(record, namedMembers)
    .filter(([, value]) => !isEmpty(value))
    .map(([name]) => `${before}${camelCase(name)}`);
}

/** SDKs send empty lists and objects. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.keys(value).length === 0;
}
