import { hash } from 'node:crypto';

/** Which conversation a request belongs to, as far as it can be told. */
export interface Conversation {
  /** Of this and the following requests; null when nothing tells. */
  readonly key: string | null;
}

export interface ConversationSource {
  /** The id of the caller's key: the same words of two callers are two conversations. */
  readonly keyId: string;
  /** As the client wrote it: the models of one session may live on different channels. */
  readonly model: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** By which coding agents name their sessions. */
const sessionHeaders = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-affinity',
];

/** Of a system prompt so many characters tell it from others. */
const promptLimit = 4096;
const idLimit = 512;

/**
 * What clients say themselves comes first; else the system prompt tells, because it is what upstream prompt caches
 * hold for all who send it.
 */
export function conversationOf(source: ConversationSource): Conversation {
  return { key: keyOf(source) };
}

function keyOf(source: ConversationSource): string | null {
  const { keyId, model } = source;
  const named = sessionName(source);
  if (named !== null) return digest(`${keyId} named ${model} ${named.slice(0, idLimit)}`);
  const prompt = systemText(source.json);
  return prompt === null ? null : digest(`${keyId} prompt ${model} ${prompt}`);
}

function sessionName({ headers, json }: ConversationSource): string | null {
  const cacheKey = textOf(json['prompt_cache_key']);
  if (cacheKey !== null) return cacheKey;
  for (const name of sessionHeaders) {
    const value = textOf(headers[name]);
    if (value !== null) return value;
  }
  return textOf(memberOf(json['metadata'], 'user_id'));
}

/** The beginning of the first system text, wherever a protocol keeps it; null when there is none. */
function systemText(json: Readonly<Record<string, unknown>>): string | null {
  const own =
    json['instructions'] ??
    json['system'] ??
    memberOf(json['systemInstruction'] ?? json['system_instruction'], 'parts');
  const text = firstText(own ?? leadingMessage(json['messages']) ?? leadingMessage(json['input']));
  return text === null ? null : text.slice(0, promptLimit);
}

function leadingMessage(messages: unknown): unknown {
  const first: unknown = Array.isArray(messages) ? messages[0] : undefined;
  const role = memberOf(first, 'role');
  return role === 'system' || role === 'developer' ? memberOf(first, 'content') : undefined;
}

function firstText(value: unknown): string | null {
  return textOf(Array.isArray(value) ? memberOf(value[0], 'text') : value);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Clients choose these texts, their length too; what is kept of them is short, and tells nobody anything. */
function digest(text: string): string {
  return hash('sha256', text, 'base64');
}
