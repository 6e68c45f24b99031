import type {
  Block,
  OpaqueBlock,
  ToolCallBlock,
  ToolResultBlock,
  Extensions,
  MediaSource,
} from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { ownExtensions, member, otherMembers, readRecords } from '../../fields.ts';
import { readResult, readState } from '../parts.ts';
import { type ReadBase64, readBase64 } from '../../../shared/images/data-url.ts';
import { invalid, readRecord, readString } from '../../../shared/text/request-values.ts';

type PartReader = (part: JsonRecord, param: string) => Block;

/** One reader for each kind of data in a part. */
const readers: Readonly<Record<string, PartReader>> = {
  functionCall: decodeFunctionCall,
  functionResponse: decodeFunctionResponse,
  inlineData: decodeInlineData,
  fileData: decodeFileData,
  executableCode: decodeExecutableCode,
  codeExecutionResult: decodeExecutionResult,
};

/** Members that may stand beside the data. */
const modifiers = ['thought', 'thoughtSignature', 'text'];
const knownMembers: ReadonlySet<string> = new Set([...Object.keys(readers), ...modifiers]);

/**
 * Decodes one part; null if it is empty. State is read here for every kind but opaque ones, which keep it in their
 * value.
 * @throws GatewayError `invalid_value` with the part's place in `param`.
 */
export function decodePart(part: JsonRecord, param: string): Block | null {
  for (const [name, read] of Object.entries(readers)) {
    if (member(part, name) !== undefined) return withModifiers(read(part, param), part);
  }
  const text = readString(member(part, 'text'), `${param}.text`);
  if (text === null) return decodeUnknown(part);
  const type = part['thought'] === true ? 'reasoning' : 'text';
  return withModifiers({ type, text }, part);
}

function withModifiers(block: Block, part: JsonRecord): Block {
  if (block.type === 'opaque') return block;
  const state = readState(part);
  const others = ownExtensions(otherMembers(part, knownMembers));
  if (state === undefined && others.length === 0) return block;
  const extensions = [...(block.extensions ?? []), ...others];
  return {
    ...block,
    ...(state === undefined ? {} : { state }),
    ...(extensions.length > 0 ? { extensions } : {}),
  };
}

/** A part of an unknown kind, or with a signature alone. */
function decodeUnknown(part: JsonRecord): Block | null {
  const [other] = otherMembers(part, knownMembers);
  if (other !== undefined) return opaque(part, other[0]);
  const state = readState(part);
  return state === undefined ? null : { type: 'text', text: '', state };
}

function opaque(part: JsonRecord, name: string, text?: string): OpaqueBlock {
  const withText = text === undefined ? {} : { text };
  return {
    type: 'opaque',
    protocol: 'generate-content',
    name,
    value: part,
    ifForeign: 'drop',
    ...withText,
  };
}

const callMembers: ReadonlySet<string> = new Set(['name', 'args', 'id']);

function decodeFunctionCall(part: JsonRecord, param: string): ToolCallBlock {
  const where = `${param}.functionCall`;
  const call = readRecord(member(part, 'functionCall'), where) ?? {};
  const name = readString(member(call, 'name'), `${where}.name`);
  if (name === null) throw invalid(`${where}.name`, 'is required');
  const others = ownExtensions(otherMembers(call, callMembers), 'functionCall.');
  return {
    type: 'tool-call',
    id: readString(member(call, 'id'), `${where}.id`),
    name,
    kind: 'function',
    arguments: JSON.stringify(member(call, 'args') ?? {}),
    ...(others.length > 0 ? { extensions: others } : {}),
  };
}

const responseMembers: ReadonlySet<string> = new Set(['name', 'response', 'id', 'parts']);

function decodeFunctionResponse(part: JsonRecord, param: string): ToolResultBlock {
  const where = `${param}.functionResponse`;
  const result = readRecord(member(part, 'functionResponse'), where) ?? {};
  const response = readRecord(member(result, 'response'), `${where}.response`) ?? {};
  const { text, isError } = readResult(response);
  const media = readRecords(member(result, 'parts'), `${where}.parts`).flatMap((inner, index) => {
    const block = decodePart(inner, `${where}.parts.${index}`);
    return block === null ? [] : [block];
  });
  const others = ownExtensions(otherMembers(result, responseMembers), 'functionResponse.');
  return {
    type: 'tool-result',
    id: readString(member(result, 'id'), `${where}.id`),
    name: readString(member(result, 'name'), `${where}.name`),
    content: [{ type: 'text', text }, ...media],
    object: response,
    isError,
    ...(others.length > 0 ? { extensions: others } : {}),
  };
}

function decodeExecutableCode(part: JsonRecord): OpaqueBlock {
  const code = recordOf(part, 'executableCode');
  const language = member(code, 'language');
  const tag = typeof language === 'string' ? language.toLowerCase() : '';
  const text = member(code, 'code');
  const fenced = typeof text === 'string' ? `\`\`\`${tag}\n${text.trimEnd()}\n\`\`\`` : undefined;
  return opaque(part, 'executableCode', fenced);
}

function decodeExecutionResult(part: JsonRecord): OpaqueBlock {
  const output = member(recordOf(part, 'codeExecutionResult'), 'output');
  return opaque(part, 'codeExecutionResult', typeof output === 'string' ? output : undefined);
}

function recordOf(part: JsonRecord, name: string): JsonRecord {
  const value = member(part, name);
  return isRecord(value) ? value : {};
}

/**
 * Decodes a part of a response. A malformed part is treated as one of an unknown kind. So is a result of a hosted tool,
 * since no other protocol could match it to a call.
 */
export function decodeResponsePart(part: JsonRecord): Block | null {
  let block: Block | null;
  try {
    block = decodePart(part, 'parts');
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return opaque(part, Object.keys(part)[0] ?? 'part');
  }
  return block === null ? null : ownResult(block, part);
}

/** Whether a part of a model's turn is the result of a hosted tool. */
export function ownResult(block: Block, part: JsonRecord): Block {
  return block.type === 'tool-result' ? opaque(part, 'functionResponse') : block;
}

/** A call that the provider ran itself, like its result. */
export function ownCall(part: JsonRecord): OpaqueBlock {
  return opaque(part, 'functionCall');
}

const inlineMembers: ReadonlySet<string> = new Set(['mimeType', 'data', 'displayName']);
const fileMembers: ReadonlySet<string> = new Set(['mimeType', 'fileUri', 'displayName']);

/** @throws GatewayError `invalid_value` if the data is not base64. */
export function decodeInlineData(part: JsonRecord, param: string): Block {
  const where = `${param}.inlineData`;
  const media = readRecord(member(part, 'inlineData'), where) ?? {};
  const mime = readString(member(media, 'mimeType'), `${where}.mimeType`) ?? '';
  const data = readString(member(media, 'data'), `${where}.data`) ?? '';
  const source: MediaSource = { kind: 'data', mime, ...toBase64(data, `${where}.data`) };
  const others = ownExtensions(otherMembers(media, inlineMembers), 'inlineData.');
  return mediaBlock(mime, source, others, nameOf(media));
}

/** A file in the provider's storage, or one on the web that the provider fetches. */
export function decodeFileData(part: JsonRecord, param: string): Block {
  const where = `${param}.fileData`;
  const media = readRecord(member(part, 'fileData'), where) ?? {};
  const mime = readString(member(media, 'mimeType'), `${where}.mimeType`);
  const uri = readString(member(media, 'fileUri'), `${where}.fileUri`);
  if (uri === null) throw invalid(`${where}.fileUri`, 'is required');
  const others = ownExtensions(otherMembers(media, fileMembers), 'fileData.');
  if (isStoredFile(uri)) {
    const source: MediaSource = { kind: 'file-id', protocol: 'generate-content', id: uri };
    // The canonical source has no place for it, and the provider may want it back.
    const mimeExtensions =
      mime === null ? [] : ownExtensions([['fileData.mimeType', mime]], '', ignored);
    return mediaBlock(mime ?? '', source, [...others, ...mimeExtensions], nameOf(media));
  }
  return mediaBlock(mime ?? mimeOfUrl(uri), { kind: 'url', url: uri, mime }, others, nameOf(media));
}

const ignored = () => 'ignore' as const;

function nameOf(media: JsonRecord): string | undefined {
  const name = member(media, 'displayName');
  return typeof name === 'string' ? name : undefined;
}

function mediaBlock(
  mime: string,
  source: MediaSource,
  others: Extensions,
  filename: string | undefined,
): Block {
  const extensions = others.length > 0 ? { extensions: others } : {};
  if (mime.startsWith('image/')) return { type: 'image', source, ...extensions };
  if (mime.startsWith('audio/')) return { type: 'audio', source, ...extensions };
  if (mime.startsWith('video/')) return { type: 'video', source, ...extensions };
  const withFilename = filename === undefined ? {} : { filename };
  return { type: 'file', source, ...withFilename, ...extensions };
}

const fileStore = /^https:\/\/[a-z0-9.-]*\bgoogleapis\.com\/.*\bfiles\//;

/** `files/x` and `gs://` belong to the provider. Anybody can read other addresses. */
function isStoredFile(uri: string): boolean {
  return !/^https?:\/\//.test(uri) || fileStore.test(uri);
}

/** The provider reads videos of one site by address. They come without a type. */
function mimeOfUrl(url: string): string {
  return /^https?:\/\/((www|m)\.)?(youtube\.com|youtu\.be)\//.test(url) ? 'video/*' : '';
}

/** Proto3 JSON allows both alphabets and missing padding. All others require the standard form. */
function toBase64(data: string, param: string): ReadBase64 {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(data)) {
    const read = readBase64(data);
    if (read === null) throw invalid(param, 'must be base64');
    return read;
  }
  // Padding is at most two characters, see above.
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  const plain = data.slice(0, data.length - padding);
  const rest = plain.length % 4;
  if (rest === 1) throw invalid(param, 'must be base64');
  const standard = /[_-]/.test(plain) ? plain.replaceAll('-', '+').replaceAll('_', '/') : plain;
  return { base64: rest === 0 ? standard : standard.padEnd(standard.length + 4 - rest, '=') };
}
