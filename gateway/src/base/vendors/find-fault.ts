import { anthropicFaults } from './anthropic/index.ts';
import { arkFaults } from './ark/index.ts';
import { dashscopeFaults } from './dashscope/index.ts';
import type { FailureFields } from './failure-fields.ts';
import type { Fault, FaultTable } from './vendor.ts';
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
  { words: said, message }: FailureFields,
  status: number | null,
  inside: boolean,
): FoundFault | null {
  for (const word of said) {
    const fault = byWord(word, inside ? 200 : status);
    if (fault !== null) return { fault, isCertain: true, ...(isCode(word) && { code: word }) };
  }
  const found = texts.find(
    ([part, fault]) =>
      isPossible(fault, status) && [message, ...said].some((text) => part.test(text)),
  );
  if (found !== undefined) return { fault: found[1], isCertain: found[0].source.startsWith('^') };
  // Another gateway has wrapped the error into a text.
  for (const [word] of message.matchAll(unmistakable)) {
    const fault = words.get(word.toLowerCase());
    if (typeof fault === 'string' && isPossible(fault, status)) return { fault, isCertain: false };
  }
  return null;
}

/** A status that the words of an error stand for; null: none of them stands for one. */
export function statusByWord(said: readonly string[]): number | null {
  for (const word of said) {
    const fault = wordOf(word);
    if (typeof fault === 'number') return fault;
  }
  // Google puts the status into `code`, Azure into `status`.
  return said.map(Number).find((status) => status >= 400 && status <= 599) ?? null;
}

function byWord(word: string, status: number | null): Fault | null {
  const fault = words.get(`${status} ${word.toLowerCase()}`) ?? wordOf(word);
  return typeof fault === 'string' ? fault : null;
}

/** AWS has a namespace before its words: `com.amazon.coral.service#ThrottlingException`. */
function wordOf(written: string): Fault | number | undefined {
  const word = written.slice(written.indexOf('#') + 1).toLowerCase();
  return words.get(word) ?? words.get(word.split('.', 1)[0] ?? '');
}

function isPossible(fault: Fault, status: number | null): boolean {
  return !ofRequest.has(fault) || !ofOperator.has(status);
}

/** Nothing that could be a sentence. */
function isCode(word: string): boolean {
  return /^[\w.-]{1,80}$/.test(word);
}
