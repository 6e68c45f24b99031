import type {
  Extension,
  GenerationRequest,
  Block,
  TextBlock,
  Turn,
  Extensions,
  OutputFormat,
} from '#canonical/index.ts';
import type { WireRequest } from '../../../protocol.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { decodeToolConfig, decodeTools } from './decode-tools.ts';
import { ownExtensions, member, otherMembers, readRecords, readStrings } from '../../fields.ts';
import { decodePart, ownCall, ownResult } from './decode-part.ts';
import { joinBlock } from '../parts.ts';
import { addArguments } from '../partial-call.ts';
import { fromDialect } from '../schema/schema-dialect.ts';
import { decodeThinking } from './thinking.ts';
import {
  invalid,
  readNumber,
  readRecord,
  readString,
} from '../../../shared/text/request-values.ts';

const knownMembers: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'generationConfig',
  'generateContentRequest',
]);

/** Members whose loss would change the response: a conversation that the provider stores. */
const statefulMembers: ReadonlySet<string> = new Set(['cachedContent', 'continuationToken']);

/** @throws GatewayError `invalid_value`. */
export function decodeRequest(request: WireRequest): GenerationRequest {
  const wrapped = member(request.json, 'generateContentRequest');
  const json = isRecord(wrapped) ? wrapped : request.json;
  const config = decodeConfig(member(json, 'generationConfig'));
  const { toolChoice, extensions } = decodeToolConfig(member(json, 'toolConfig'));
  return {
    model: request.model,
    stream: request.stream,
    system: decodeSystem(member(json, 'systemInstruction')),
    turns: decodeContents(member(json, 'contents')),
    tools: decodeTools(member(json, 'tools')),
    toolChoice,
    parallelTools: null,
    maxOutputTokens: request.maxOutputTokens,
    choices: request.choices,
    verbosity: null,
    cacheKey: null,
    endUser: null,
    wantsUsage: true,
    ...config,
    extensions: [
      ...ownExtensions(otherMembers(json, knownMembers), '', handlingOf),
      ...extensions,
      ...config.extensions,
    ],
  };
}

function handlingOf(name: string, value: unknown): Extension['ifForeign'] {
  // Nothing is stored anyway.
  if (name === 'store' && value === false) return 'ignore';
  return statefulMembers.has(name) ? 'refuse' : 'drop';
}

/** Older clients use `function` for turns with tool results. */
const roles: ReadonlyMap<unknown, Turn['role']> = new Map([
  ['user', 'user'],
  ['model', 'assistant'],
  ['function', 'user'],
]);

/** @throws GatewayError `invalid_value` with `param` `contents.N.…`. */
function decodeContents(contents: unknown): readonly Turn[] {
  return readRecords(contents, 'contents').map((content, index) =>
    decodeContent(content, `contents.${index}`),
  );
}

function decodeContent(content: JsonRecord, param: string): Turn {
  const role = roles.get(member(content, 'role') ?? 'user');
  if (role === undefined) throw invalid(`${param}.role`, 'must be user or model');
  const blocks: Block[] = [];
  const writtenParts = readRecords(member(content, 'parts'), `${param}.parts`);
  const parts = role === 'assistant' ? joinPartialCalls(writtenParts) : writtenParts;
  const run = role === 'assistant' ? ranByProvider(parts) : null;
  parts.forEach((part, index) => {
    const where = `${param}.parts.${index}`;
    const block = run?.has(part) === true ? ownCall(part) : decodePart(part, where);
    if (block === null) return;
    if (block.type === 'tool-call' && role === 'user') {
      throw invalid(`${where}.functionCall`, 'belongs in a content with role model');
    }
    joinBlock(blocks, role === 'user' ? asSaid(block) : ownResult(block, part));
  });
  return { role, blocks };
}

/** Only the model has reasoning and signatures. A user's reasoning is text. */
function asSaid(block: Block): Block {
  return block.type === 'reasoning' ? { type: 'text', text: block.text } : block;
}

/** Reads a text, a content, or a list of parts. @throws GatewayError `invalid_value` for anything but text. */
function decodeSystem(instruction: unknown): readonly TextBlock[] {
  if (instruction === undefined) return [];
  if (typeof instruction === 'string') return [{ type: 'text', text: instruction }];
  const entries = readRecords(instruction, 'systemInstruction');
  return entries.flatMap((entry) => {
    const parts = member(entry, 'parts');
    return readRecords(parts ?? entry, 'systemInstruction.parts').map((part, index) => {
      const param = `systemInstruction.parts.${index}`;
      const block = decodePart(part, param);
      if (block?.type === 'text') return block;
      throw invalid(param, 'must be a text');
    });
  });
}

/**
 * The parts of a model's turn as one whole response would have them: a client that asked for arguments value by value
 * returns the pieces of a call as they came, in several parts.
 */
function joinPartialCalls(parts: readonly JsonRecord[]): readonly JsonRecord[] {
  if (!parts.some((part) => callOf(part)?.['partialArgs'] !== undefined)) return parts;
  const joined: JsonRecord[] = [];
  /** The arguments of the call that is still to be continued. */
  let openCall: Record<string, unknown> | null = null;
  for (const part of parts) {
    const call = callOf(part);
    if (call === null) {
      joined.push(part);
      continue;
    }
    const { partialArgs, willContinue, args, ...bare } = call;
    const continues = openCall !== null && member(call, 'name') === undefined;
    if (!continues) {
      openCall = isRecord(args) ? { ...args } : {};
      joined.push({ ...part, functionCall: { ...bare, args: openCall } });
    }
    addArguments(openCall!, partialArgs);
    if (willContinue !== true) openCall = null;
  }
  return joined;
}

/**
 * The calls that the provider ran itself: their results are in the same turn. No other protocol has a place for them,
 * and a call without a result after it would be refused.
 */
function ranByProvider(parts: readonly JsonRecord[]): ReadonlySet<JsonRecord> {
  const run = new Set<JsonRecord>();
  const waiting: JsonRecord[] = [];
  for (const part of parts) {
    if (callOf(part) !== null) waiting.push(part);
    const result = member(part, 'functionResponse');
    if (!isRecord(result)) continue;
    const at = waiting.findIndex((each) => isAnswered(callOf(each)!, result));
    if (at >= 0) run.add(waiting.splice(at, 1)[0]!);
  }
  return run;
}

/** By id if both have one, else by name. */
function isAnswered(call: JsonRecord, result: JsonRecord): boolean {
  const [own, other] = [member(call, 'id'), member(result, 'id')];
  if (own !== undefined && other !== undefined) return own === other;
  return member(call, 'name') === member(result, 'name');
}

function callOf(part: JsonRecord): JsonRecord | null {
  const call = member(part, 'functionCall');
  return isRecord(call) ? call : null;
}

const configMembers: ReadonlySet<string> = new Set([
  'temperature',
  'topP',
  'topK',
  'candidateCount',
  'maxOutputTokens',
  'stopSequences',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'responseMimeType',
  'responseSchema',
  'responseJsonSchema',
  'responseLogprobs',
  'logprobs',
  'thinkingConfig',
]);

type Configured = Pick<
  GenerationRequest,
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'seed'
  | 'stop'
  | 'format'
  | 'reasoning'
  | 'logprobs'
  | 'extensions'
>;

const configPrefix = 'generationConfig.';

/** @throws GatewayError `invalid_value` for members of the wrong type. */
export function decodeConfig(value: unknown): Configured {
  const config = readRecord(value, 'generationConfig') ?? {};
  const number = (name: string) => readNumber(member(config, name), configPrefix + name);
  const thinking = readRecord(member(config, 'thinkingConfig'), `${configPrefix}thinkingConfig`);
  const { format, extensions } = decodeFormat(config);
  const stop = readStrings(member(config, 'stopSequences'), `${configPrefix}stopSequences`);
  return {
    temperature: number('temperature'),
    topP: number('topP'),
    topK: number('topK'),
    presencePenalty: number('presencePenalty'),
    frequencyPenalty: number('frequencyPenalty'),
    seed: number('seed'),
    stop: stop.filter((sequence) => sequence !== ''),
    format,
    reasoning: decodeThinking(thinking, `${configPrefix}thinkingConfig`),
    logprobs: member(config, 'responseLogprobs') === true ? (number('logprobs') ?? 0) : null,
    extensions: [
      ...extensions,
      ...ownExtensions(otherMembers(config, configMembers), configPrefix, fateOfConfig),
    ],
  };
}

/** Other protocols return text. An image or speech in its place would be a different response. */
function fateOfConfig(name: string, value: unknown): Extension['ifForeign'] {
  if (name !== 'responseModalities') return 'drop';
  const modes = Array.isArray(value) ? value : [];
  return modes.every((mode) => String(mode).toUpperCase() === 'TEXT') ? 'ignore' : 'refuse';
}

function decodeFormat(config: JsonRecord): { format: OutputFormat | null; extensions: Extensions } {
  const mime = readString(member(config, 'responseMimeType'), `${configPrefix}responseMimeType`);
  const dialect = readRecord(member(config, 'responseSchema'), `${configPrefix}responseSchema`);
  const json = readRecord(
    member(config, 'responseJsonSchema'),
    `${configPrefix}responseJsonSchema`,
  );
  if (mime !== null && mime !== 'application/json' && mime !== 'text/plain') {
    // One word out of a list. No other protocol has this format.
    const members = [
      ['responseMimeType', mime],
      ['responseSchema', dialect],
    ] as const;
    const present = members.filter(([, value]) => value !== null);
    return { format: null, extensions: ownExtensions(present, configPrefix, () => 'refuse') };
  }
  const schema = json ?? (dialect === null ? null : fromDialect(dialect));
  return { format: formatOf(mime, schema), extensions: [] };
}

function formatOf(mime: string | null, schema: JsonRecord | null): OutputFormat | null {
  if (schema !== null) {
    return { type: 'schema', name: null, description: null, schema, strict: null };
  }
  if (mime === null) return null;
  return { type: mime === 'text/plain' ? 'text' : 'json' };
}
