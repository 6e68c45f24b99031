import type { TextBlock, Turn } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import type { EncodeContext } from './model-traits.ts';
import { type EncodedResult, encodePart, encodeResult, type Part } from './encode-part.ts';
import { restoreExtensions } from '../../fields.ts';
import { skipSignature } from '../../../shared/state/without-state.ts';

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: Part[];
  /** Results of tools, still to be sorted by the calls before. */
  readonly results: EncodedResult[];
  /** The ids of the calls in this content, in order. */
  readonly calls: (string | null)[];
  /** The content has the user's own words, not only results. */
  isMessage: boolean;
}

/**
 * Encodes the conversation as contents that alternate between user and model. All results of one round of calls go
 * first into one content, as many as there were calls and in their order. The API refuses anything else.
 * @throws Unconvertible
 */
export function encodeContents(turns: readonly Turn[], context: EncodeContext): JsonRecord[] {
  const contents: Content[] = [];
  for (const turn of turns) addTurn(contents, turn, context);
  const filled = contents.filter((content) => !isEmpty(content));
  if (context.model.demandsSignatures) signCalls(filled);
  const writtenContents = filled.map((content, index) => write(content, filled[index - 1]));
  // The conversation must begin with the user.
  if (filled[0]?.role === 'model')
    writtenContents.unshift({ role: 'user', parts: [{ text: ' ' }] });
  return writtenContents;
}

function addTurn(contents: Content[], turn: Turn, context: EncodeContext): void {
  const { losses } = context;
  if (turn.name !== undefined) losses.dropped('message.name');
  // Instructions have a place at the beginning only. Later ones become the user's words.
  if (turn.role === 'system') losses.approximated('system');
  const content = contentFor(contents, turn.role === 'assistant' ? 'model' : 'user');
  for (const block of turn.blocks) {
    if (block.type === 'tool-result') {
      content.results.push(encodeResult(block, context));
      continue;
    }
    if (turn.role === 'user') content.isMessage = true;
    const part = encodePart(block, context);
    if (part === null) continue;
    content.parts.push(part);
    if (block.type === 'tool-call') content.calls.push(block.id);
  }
}

/** The last content if its speaker continues, else a new one. */
function contentFor(contents: Content[], role: Content['role']): Content {
  if (isEmpty(contents.at(-1))) contents.pop();
  const last = contents.at(-1);
  if (last?.role === role) return last;
  const content: Content = { role, parts: [], results: [], calls: [], isMessage: false };
  contents.push(content);
  return content;
}

/** Removes empty contents and joins their neighbours. */
function isEmpty(content: Content | undefined): boolean {
  return content?.parts.length === 0 && content.results.length === 0;
}

function write({ role, parts, results }: Content, before: Content | undefined): JsonRecord {
  const calls = before?.calls ?? [];
  const places = new Map(calls.map((id, place) => [id, place] as const).toReversed());
  const placeOf = ({ id }: EncodedResult) =>
    (id === null ? undefined : places.get(id)) ?? calls.length;
  const ordered = results.toSorted((a, b) => placeOf(a) - placeOf(b));
  const media = ordered.flatMap((result) => result.media);
  return { role, parts: [...ordered.map(({ part }) => part), ...media, ...parts] };
}

/**
 * The current turn is everything after the user's last message. The first call of each of its steps must be signed
 * (https://ai.google.dev/gemini-api/docs/thought-signatures). A step by another model never is.
 */
function signCalls(contents: readonly Content[]): void {
  // Text beside results may be a remark of the client on the step.
  const start = contents.findLastIndex(
    ({ isMessage, results }) => isMessage && results.length === 0,
  );
  for (const { parts } of contents.slice(start + 1)) {
    const call = parts.find((part) => part['functionCall'] !== undefined);
    if (call !== undefined) call['thoughtSignature'] ??= skipSignature;
  }
}

/** Null if it would be empty. */
export function encodeSystem(
  system: readonly TextBlock[],
  { losses }: EncodeContext,
): JsonRecord | null {
  const parts = system.flatMap((block) => {
    if (block.cache !== undefined) losses.dropped('cache');
    const part: Part = { text: block.text };
    restoreExtensions(part, block.extensions, losses);
    return block.text === '' ? [] : [part];
  });
  return parts.length === 0 ? null : { parts };
}
