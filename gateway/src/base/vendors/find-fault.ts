import { anthropicFaults } from './anthropic/index.ts';
import { arkFaults } from './ark/index.ts';
import { dashscopeFaults } from './dashscope/index.ts';
import type { Fault, FaultTable, UpstreamFailure } from './vendor.ts';
import { geminiFaults } from './gemini/index.ts';
import { groqFaults } from './groq/index.ts';
import { moonshotFaults } from './moonshot/index.ts';
import { compatibleFaults } from './openai-compatible/faults.ts';
import { openAiFaults } from './openai/faults.ts';
import { xaiFaults } from './xai/index.ts';

/** In the order in which their texts are tried. */
export const faultTables: readonly FaultTable[] = [
  openAiFaults,
  anthropicFaults,
  geminiFaults,
  compatibleFaults,
  groqFaults,
  moonshotFaults,
  xaiFaults,
  dashscopeFaults,
  arkFaults,
];

const words: ReadonlyMap<string, Fault | number> = new Map(
  faultTables
    .flatMap((table) => Object.entries(table.words))
    .map(([word, fault]) => [word.toLowerCase(), fault]),
);
const texts = faultTables.flatMap((table) => table.texts);

/** A text of one piece that is too special to be anything but a word of an error: `context_length_exceeded`. */
const unmistakable = /\w{12,}/g;

/** Faults of the request. */
const ofRequest: ReadonlySet<Fault> = new Set([
  'capability',
  'client',
  'content_policy',
  'context_overflow',
]);

/** Statuses that say whose fault it is: no text makes it the request's. */
const ofOperator: ReadonlySet<number | null> = new Set([401, 402, 429]);

export interface FoundFault {
  readonly fault: Fault;
  /** The upstream says it in a place of its own. Otherwise a text says it, which may quote what the client wrote. */
  readonly isCertain: boolean;
  /** The word in that place. Absent: the beginning of the text says it, or the text. */
  readonly code?: string;
}

/**
 * What the words of an error mean; null: no table knows any of them.
 * @param status of the response, or what a word or number of the error says; null: nothing says it
 * @param inside whether the error was inside of a response or a stream
 */
export function findFault(
  { words: ownWords, message }: FailureFields,
  status: number | null,
  inside: boolean,
): FoundFault | null {
  for (const word of ownWords) {
    const fault = byWord(word, inside ? 200 : status);
    if (fault !== null) return { fault, isCertain: true, ...(isCode(word) && { code: word }) };
  }
  const match = texts.find(
    ([part, fault]) =>
      isPossible(fault, status) && [message, ...ownWords].some((text) => part.test(text)),
  );
  if (match !== undefined) return { fault: match[1], isCertain: match[0].source.startsWith('^') };
  // Another gateway has wrapped the error into a text.
  for (const [word] of message.matchAll(unmistakable)) {
    const fault = words.get(word.toLowerCase());
    if (typeof fault === 'string' && isPossible(fault, status)) return { fault, isCertain: false };
  }
  return null;
}

/** A status that the words of an error stand for; null: none of them stands for one. */
export function statusByWord(ownWords: readonly string[]): number | null {
  for (const word of ownWords) {
    const fault = wordOf(word);
    if (typeof fault === 'number') return fault;
  }
  // Google puts the status into `code`, Azure into `status`.
  return ownWords.map(Number).find((status) => status >= 400 && status <= 599) ?? null;
}

function byWord(word: string, status: number | null): Fault | null {
  const fault = words.get(`${status} ${word.toLowerCase()}`) ?? wordOf(word);
  return typeof fault === 'string' ? fault : null;
}

/** AWS has a namespace before its words: `com.amazon.coral.service#ThrottlingException`. */
function wordOf(qualified: string): Fault | number | undefined {
  const word = qualified.slice(qualified.indexOf('#') + 1).toLowerCase();
  return words.get(word) ?? words.get(word.split('.', 1)[0] ?? '');
}

function isPossible(fault: Fault, status: number | null): boolean {
  return !ofRequest.has(fault) || !ofOperator.has(status);
}

/** Nothing that could be a sentence. */
function isCode(word: string): boolean {
  return /^[\w.-]{1,80}$/.test(word);
}

/** The parts of an error body that say what is wrong, whatever the wrapping. */
export interface FailureFields {
  /** Codes, types, status words and reasons, the most exact ones first. */
  readonly words: readonly string[];
  /** Empty if there is none. */
  readonly message: string;
  /** Empty if there is none. */
  readonly param: string;
}

/** This much of a text is read. */
const longestText = 20_000;

/** Members with codes, types and status words. AWS calls it `__type`, TGI `error_type`, MiniMax `status_code`. */
const wordMembers = ['code', 'type', 'status', '__type', 'error_type', 'error_code', 'status_code'];

/** Members with the text. MiniMax calls it `status_msg`, FastAPI `detail`. */
const textMembers = ['message', 'error', 'status_msg', 'error_msg', 'msg', 'detail'];

/**
 * The error is the body, or one of its members: a list of errors counts as its first (Gemini's stream, Cloudflare).
 */
export function failureFields({ body }: Pick<UpstreamFailure, 'body'>): FailureFields {
  const top = firstOf(body);
  const inner = ['error', 'errors', 'base_resp', 'detail'].map((name) =>
    firstOf(member(top, name)),
  );
  const error = inner.find((value) => typeof value === 'object' && value !== null) ?? top;
  const places = error === top ? [top] : [error, top];
  return {
    words: [...places.flatMap((place) => textsOf(place, wordMembers)), ...reasonsOf(error)],
    message: messageOf(error, top).slice(0, longestText),
    param: text(member(error, 'param')),
  };
}

/** Google's ErrorInfo in `details`, Azure's `innererror`, OpenRouter's `metadata`. */
function reasonsOf(error: unknown): string[] {
  const details = member(error, 'details');
  const places = [
    ...(Array.isArray(details) ? (details as unknown[]) : []),
    member(error, 'innererror'),
    member(error, 'metadata'),
  ];
  return places.flatMap((place) => textsOf(place, ['reason', 'code', 'error_type']));
}

/** A router says of its upstream's error no more than that there was one, and has it as text (OpenRouter). */
function messageOf(error: unknown, top: unknown): string {
  if (typeof error === 'string') return error;
  const [message = ''] = [...textsOf(error, textMembers), ...textsOf(top, textMembers)];
  const raw = text(member(member(error, 'metadata'), 'raw'));
  return raw === '' ? message : `${message} ${raw}`;
}

function textsOf(value: unknown, names: readonly string[]): string[] {
  return names.map((name) => text(member(value, name))).filter((each) => each !== '');
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : value;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function text(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : '';
}
