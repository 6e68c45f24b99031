import type { IncomingHttpHeaders } from 'node:http';
import { isObject, isPresent, objectAt, objectsIn, stringAt, type JsonObject } from '../json.ts';
import { Rejection } from '../rejection.ts';
import type { Signer } from '../scenario/signature.ts';
import { checkBlocks } from './validate-blocks.ts';
import { checkCache } from './validate-cache.ts';
import { countFields, rejectExtra, requestFields, type Strictness } from './fields.ts';
import { checkModelRules, rulesOf } from './model-rules.ts';
import { invalid } from './protocol.ts';
import { checkPairing } from './validate-pairing.ts';
import { checkSampling, checkThinking } from './validate-thinking.ts';
import { checkOutputSchemas } from './validate-output-schema.ts';
import { checkTools } from './validate-tools.ts';

const versions = ['2023-06-01', '2026-10-21'];

/** Rejects what the Messages API rejects, in the vendor's words if known. @throws Rejection */
export function validateMessages(
  given: unknown,
  model: string,
  headers: IncomingHttpHeaders,
  signer: Signer,
  counting = false,
): JsonObject {
  const strictness = readStrictness(headers);
  if (!isObject(given)) throw invalid('Input should be an object');
  const body = given;
  checkRequired(body, model, counting);
  checkWellFormed(body, '');
  rejectExtra(body, counting ? countFields : requestFields, '', strictness);
  checkSystem(body['system'], strictness);
  const systemTurns = rulesOf(model)?.systemTurns ?? (strictness.latest || strictness.beta);
  checkRoles(body['messages'], strictness, systemTurns);
  checkBlocks(objectsIn(body['messages']), strictness);
  checkPairing(objectsIn(body['messages']));
  checkCache(body);
  checkTools(body);
  checkSampling(body, strictness);
  checkThinking(body, signer);
  checkModelRules(body, model);
  checkRest(body, strictness);
  checkOutputSchemas(body);
  return body;
}

function readStrictness(headers: IncomingHttpHeaders): Strictness {
  const version = headers['anthropic-version'];
  if (typeof version !== 'string') throw invalid('anthropic-version: header is required');
  if (!versions.includes(version)) {
    throw invalid(`anthropic-version: "${version}" is not a valid version`);
  }
  return { beta: Boolean(headers['anthropic-beta']), latest: version === '2026-10-21' };
}

function checkRequired(body: JsonObject, model: string, counting: boolean): void {
  const { messages } = body;
  const limit = body['max_tokens'];
  if (!isPresent(body['model'])) throw invalid('model: Field required');
  if (typeof body['model'] !== 'string') throw invalid('model: Input should be a valid string');
  if (model === '') throw invalid('model: String should have at least 1 character');
  if (model.startsWith('missing-')) throw new Rejection(404, `model: ${model}`);
  if (counting && limit !== undefined) throw invalid('max_tokens: Extra inputs are not permitted');
  if (!counting && !isPresent(limit)) throw invalid('max_tokens: Field required');
  if (!counting && (typeof limit !== 'number' || !Number.isInteger(limit))) {
    throw invalid('max_tokens: Input should be a valid integer');
  }
  if (typeof limit === 'number' && limit < 0) {
    throw invalid('max_tokens: Input should be greater than or equal to 0');
  }
  if (typeof limit === 'number' && limit > maxOutput) {
    throw invalid(
      `max_tokens: ${limit} > ${maxOutput}, which is the maximum allowed number of output tokens for ${model}`,
    );
  }
  if (!isPresent(messages)) throw invalid('messages: Field required');
  if (!Array.isArray(messages)) throw invalid('messages: Input should be a valid list');
  if (messages.length === 0) throw invalid('messages: at least one message is required');
}

const maxOutput = 200_000;

/** JSON allows a lone surrogate, the vendor does not. */
function checkWellFormed(value: unknown, path: string): void {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return;
    throw invalid(
      `The request body is not valid JSON: no low surrogate in string${path === '' ? '' : `: ${path}`}`,
    );
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    checkWellFormed(member, path === '' ? key : `${path}.${key}`);
  }
}

function checkSystem(system: unknown, strictness: Strictness): void {
  if (!isPresent(system) || typeof system === 'string') return;
  if (!Array.isArray(system)) throw invalid('system: Input should be a valid string or list');
  const known = new Set(['type', 'text', 'cache_control', 'citations']);
  system.forEach((block: unknown, index) => {
    if (!isObject(block) || block['type'] !== 'text') {
      throw invalid(`system.${index}.type: Input should be 'text'`);
    }
    rejectExtra(block, known, `system.${index}.`, strictness);
    const text = stringAt(block, 'text');
    if (text === '' && isPresent(block['cache_control'])) {
      throw invalid(`system.${index}: cache_control cannot be set for empty text blocks`);
    }
    if (text === '') throw invalid('system: text content blocks must be non-empty');
    if (text.trim() === '') {
      throw invalid('system: text content blocks must contain non-whitespace text');
    }
  });
}

function checkRoles(messages: unknown, strictness: Strictness, systemTurns: boolean): void {
  const list = messages as unknown[];
  list.forEach((message, index) => {
    const path = `messages.${index}`;
    if (!isObject(message)) throw invalid(`${path}: Input should be an object`);
    const { role } = message;
    if (!isPresent(role)) throw invalid(`${path}.role: Field required`);
    if (role === 'system') return checkSystemTurn(list, index, systemTurns);
    if (role !== 'user' && role !== 'assistant') {
      throw invalid(`${path}.role: Input should be 'user' or 'assistant'`);
    }
    rejectExtra(message, messageFields, `${path}.`, strictness);
    if (message['content'] === undefined) throw invalid(`${path}.content: Field required`);
  });
  if (stringAt(list[0], 'role') !== 'user') {
    throw invalid('messages: first message must use the "user" role');
  }
}

const messageFields = new Set(['role', 'content']);

/** System turns inside the conversation need a model that takes them (of demo models: the latest version or a beta), and their right place. */
function checkSystemTurn(list: readonly unknown[], index: number, areTaken: boolean): void {
  if (!areTaken) {
    throw invalid(`messages.${index}: role 'system' is not supported on this model`);
  }
  const next = list[index + 1];
  const misplaced =
    stringAt(list[index - 1], 'role') !== 'user' ||
    (next !== undefined && stringAt(next, 'role') !== 'assistant');
  if (misplaced) {
    throw invalid(
      `messages.${index}: role 'system' must follow a user message and be last or be followed by an assistant message`,
    );
  }
}

function checkRest(body: JsonObject, strictness: Strictness): void {
  const { stream, metadata } = body;
  rejectExtra(objectAt(body, 'output_config'), configFields, 'output_config.', strictness);
  checkCitations(body);
  if (isPresent(stream) && typeof stream !== 'boolean') {
    throw invalid('stream: Input should be a valid boolean');
  }
  const sequences = body['stop_sequences'];
  if (isPresent(sequences) && !Array.isArray(sequences)) {
    throw invalid('stop_sequences: Input should be a valid list');
  }
  for (const sequence of (sequences ?? []) as unknown[]) {
    if (typeof sequence !== 'string' || sequence.trim() === '') {
      throw invalid('stop_sequences: each stop sequence must contain non-whitespace');
    }
  }
  if (isObject(metadata)) {
    rejectExtra(metadata, new Set(['user_id']), 'metadata.', { ...strictness, beta: false });
    const user = metadata['user_id'];
    if (isPresent(user) && typeof user !== 'string') {
      throw invalid('metadata.user_id: Input should be a valid string');
    }
    if (typeof user === 'string' && isAddress(user)) {
      throw invalid('metadata.user_id: user_id appears to contain an email address');
    }
  }
}

/** Like an e-mail address: text on both sides of an `@` and of a later dot, without white space. */
function isAddress(text: string): boolean {
  const at = text.indexOf('@', 1);
  return at > 0 && text.lastIndexOf('.', text.length - 2) > at + 1 && !/\s/.test(text);
}

const configFields = new Set(['effort', 'format']);

/** Structured output and citations exclude each other. */
function checkCitations(body: JsonObject): void {
  if (!hasFormat(body)) return;
  const blocks = objectsIn(body['messages']).flatMap(({ content }) => objectsIn(content));
  const all = blocks.flatMap((block) => [block, ...objectsIn(block['content'])]);
  if (all.some((block) => objectAt(block, 'citations')['enabled'] === true)) {
    throw invalid('Citations cannot be enabled when output_format or output_config.format is set.');
  }
}

function hasFormat(body: JsonObject): boolean {
  return Object.keys(objectAt(body['output_config'], 'format')).length > 0;
}
