import type { Block, OpaqueBlock, ToolCallBlock, ToolResultBlock } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { decodeFileData, decodeInlineData } from './decode-media.ts';
import { ownExtensions } from './extensions.ts';
import {
  invalid,
  member,
  otherMembers,
  readRecord,
  readRecords,
  readString,
} from '../../fields.ts';
import { readResult } from '../function-response.ts';
import { readState } from '../parts.ts';

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
  const said = text === undefined ? {} : { text };
  return {
    type: 'opaque',
    protocol: 'generate-content',
    name,
    value: part,
    ifForeign: 'drop',
    ...said,
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
