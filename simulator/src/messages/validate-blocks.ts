import { isObject, isPresent, objectsIn, stringAt, type JsonObject } from '../json.ts';
import { blockFields, otherBlocks, rejectExtra, type Strictness } from './fields.ts';
import { checkImage } from './validate-image.ts';
import { invalid } from './protocol.ts';

/** Checks the content of each message. The order of messages is checked later. */
export function checkBlocks(messages: readonly JsonObject[], strictness: Strictness): void {
  messages.forEach((message, index) => {
    const { content, role } = message;
    const path = `messages.${index}`;
    const isFinalAssistant = role === 'assistant' && index === messages.length - 1;
    if (typeof content !== 'string' && !Array.isArray(content)) {
      throw invalid(`${path}.content: Input should be a valid string or list`);
    }
    if (content.length === 0 && !isFinalAssistant) {
      throw invalid(
        `${path}: all messages must have non-empty content except for the optional final assistant message`,
      );
    }
    if (typeof content === 'string') {
      if (content !== '' && content.trim() === '') throw blank('messages');
    } else {
      content.forEach((block: unknown, position) =>
        checkBlock(block, `${path}.content.${position}`, role, strictness),
      );
    }
    if (isFinalAssistant) checkFinalText(content);
  });
}

function checkBlock(block: unknown, path: string, role: unknown, strictness: Strictness): void {
  if (!isObject(block)) throw invalid(`${path}: Input should be an object`);
  const type = stringAt(block, 'type');
  if (type === '') throw invalid(`${path}.type: Field required`);
  if (role === 'system' && type !== 'text') throw invalid(`${path}.type: Input should be 'text'`);
  if (type === 'search_result' && strictness.latest) {
    for (const part of objectsIn(block['content'])) {
      if (Array.isArray(part['citations']) && part['citations'].length > 0) {
        throw invalid(`${path}.search_result.content.citations: Extra inputs are not permitted`);
      }
    }
  }
  const known = blockFields[type];
  if (known === undefined) {
    if (otherBlocks.has(type) || strictness.beta) return;
    throw invalid(
      `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${Object.keys(blockFields).join(', ')}`,
    );
  }
  checkPlace(type, path, role, strictness);
  rejectExtra(block, known, `${path}.${type}.`, strictness);
  const check = checks[type as keyof typeof checks] as BlockCheck | undefined;
  check?.(block, `${path}.${type}`, strictness, role);
}

function checkPlace(type: string, path: string, role: unknown, strictness: Strictness): void {
  const isThinking = type === 'thinking' || type === 'redacted_thinking';
  if (role === 'user' && (type === 'tool_use' || isThinking)) {
    throw invalid(`${path}: \`${type}\` blocks can only be in \`assistant\` messages`);
  }
  const userOnly = type === 'tool_result' || type === 'image';
  if (role === 'assistant' && (userOnly || (type === 'document' && strictness.latest))) {
    throw invalid(`${path}: \`${type}\` blocks can only be in \`user\` messages`);
  }
}

type BlockCheck = (block: JsonObject, path: string, strictness: Strictness, role: unknown) => void;

const checks = {
  text: checkText,
  image: (block, path) => checkImage(block['source'], path),
  tool_use: checkToolUse,
  tool_result: checkToolResult,
  thinking(block, path) {
    for (const field of ['thinking', 'signature']) {
      if (typeof block[field] !== 'string') throw invalid(`${path}.${field}: Field required`);
    }
  },
} satisfies Record<string, BlockCheck>;

function checkText(block: JsonObject, path: string, strictness: Strictness, role: unknown): void {
  const { text, citations } = block;
  if (typeof text !== 'string') throw invalid(`${path}.text: Field required`);
  if (text === '') {
    throw isPresent(block['cache_control'])
      ? invalid(`${path}: cache_control cannot be set for empty text blocks`)
      : invalid('messages: text content blocks must be non-empty');
  }
  if (text.trim() === '') throw blank('messages');
  if (strictness.latest && role === 'user' && Array.isArray(citations) && citations.length > 0) {
    throw invalid(`${path}.citations: Extra inputs are not permitted`);
  }
}

function blank(where: string) {
  return invalid(`${where}: text content blocks must contain non-whitespace text`);
}

function checkToolUse(block: JsonObject, path: string): void {
  const { id, name, input } = block;
  if (typeof id !== 'string') throw invalid(`${path}.id: Field required`);
  if (!/^[a-zA-Z0-9_-]+$/.test(id)) {
    throw invalid(`${path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  }
  if (typeof name !== 'string') throw invalid(`${path}.name: Field required`);
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
    throw invalid(`${path}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  }
  if (input === undefined) throw invalid(`${path}.input: Field required`);
  if (!isObject(input)) throw invalid(`${path}.input: Input should be a valid dictionary`);
}

function checkToolResult(block: JsonObject, path: string, strictness: Strictness): void {
  const { content } = block;
  if (stringAt(block, 'tool_use_id') === '') throw invalid(`${path}.tool_use_id: Field required`);
  if (!isPresent(content) || typeof content === 'string') return;
  if (!Array.isArray(content)) throw invalid(`${path}.content: Input should be a valid list`);
  content.forEach((inner: unknown, position) => {
    const at = `${path}.content.${position}`;
    const type = stringAt(inner, 'type');
    if (['tool_use', 'tool_result', 'thinking', 'redacted_thinking', ''].includes(type)) {
      throw invalid(
        `${at}: Input tag '${type}' found using 'type' does not match any of the expected tags: 'document', 'image', 'search_result', 'text', 'tool_reference'`,
      );
    }
    checkBlock(inner, at, 'user', strictness);
  });
}

function checkFinalText(content: unknown): void {
  const last: unknown = Array.isArray(content) ? content.at(-1) : content;
  const text = typeof last === 'string' ? last : stringAt(last, 'text');
  if (text !== text.trimEnd()) {
    throw invalid('messages: final assistant content cannot end with trailing whitespace');
  }
}
