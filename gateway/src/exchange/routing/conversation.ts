import { hash } from 'node:crypto';

/** The conversation of a request, as far as it can be recognised. */
export interface Conversation {
  /** The same for all requests of the conversation; null if nothing identifies it. */
  readonly key: string | null;
  /**
   * The same for all turns that continue the same first words of the user; null if there are none. Reasoning state in the
   * history belongs to the account that this session used.
   */
  readonly session: string | null;
  /** The model has spoken before. */
  readonly isContinued: boolean;
}

export interface ConversationSource {
  /** The id of the caller's key: identical text of two callers belongs to two conversations. */
  readonly keyId: string;
  /** As the client wrote it: the models of one session may be on different channels. */
  readonly model: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body. */
  readonly json: Readonly<Record<string, unknown>>;
}

/** The headers in which coding agents name their sessions. */
const sessionHeaders = [
  'x-claude-code-session-id',
  'session-id',
  'session_id',
  'x-session-affinity',
];

/** This many characters of a system prompt distinguish it from others. */
const promptLimit = 4096;
const idLimit = 512;

/**
 * An id from the client comes first. Otherwise the system prompt identifies the conversation, because upstream prompt
 * caches share it among all who send it.
 */
export function conversationOf(source: ConversationSource): Conversation {
  const { keyId, model, json } = source;
  const turns = turnsOf(json);
  const isContinued = turns.some(isOfModel);
  const session = sessionName(source);
  if (session !== null) {
    const key = digest(`${keyId} named ${model} ${session.slice(0, idLimit)}`);
    return { key, session: key, isContinued };
  }
  const prompt = systemText(json);
  const first = firstWords(json, turns);
  return {
    key: prompt === null ? null : digest(`${keyId} prompt ${model} ${prompt}`),
    session: first === null ? null : digest(`${keyId} turns ${model} ${prompt ?? ''} ${first}`),
    isContinued,
  };
}

function turnsOf(json: Readonly<Record<string, unknown>>): readonly unknown[] {
  const turns = json['messages'] ?? json['input'] ?? json['contents'];
  return Array.isArray(turns) ? turns : [];
}

function isOfModel(turn: unknown): boolean {
  const role = memberOf(turn, 'role');
  return role === 'assistant' || role === 'model' || memberOf(turn, 'type') === 'reasoning';
}

function firstWords(
  { input }: Readonly<Record<string, unknown>>,
  turns: readonly unknown[],
): string | null {
  if (typeof input === 'string') return input.slice(0, promptLimit);
  const first = turns.find((turn) => memberOf(turn, 'role') === 'user');
  return (
    firstText(memberOf(first, 'content') ?? memberOf(first, 'parts'))?.slice(0, promptLimit) ?? null
  );
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

/** The beginning of the first system text, wherever the protocol keeps it; null if there is none. */
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

/** Clients choose these texts and their length; only a short digest is kept, which reveals nothing. */
function digest(text: string): string {
  return hash('sha256', text, 'base64');
}
