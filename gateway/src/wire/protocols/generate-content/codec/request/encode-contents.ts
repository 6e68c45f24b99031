import type { TextBlock, Turn } from '#canonical/index.ts';
import type { JsonRecord } from '../../../values.ts';
import type { EncodeContext } from './encode-context.ts';
import { type EncodedResult, encodePart, encodeResult, type Part } from './encode-part.ts';
import { restoreExtensions } from './extensions.ts';
import { skipSignature } from '../signature.ts';

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: Part[];
  /** Results of tools, to be put in the order of the calls before. */
  readonly results: EncodedResult[];
  /** The ids of the calls made here, in order. */
  readonly calls: (string | null)[];
  /** The user speaks, rather than only a tool. */
  isMessage: boolean;
}

/**
 * The conversation in contents that alternate between user and model. All results of one round of calls stand in
 * one content, as many as there were calls, in their order and before anything else: the API refuses other ways.
 * @throws Unconvertible
 */
export function encodeContents(turns: readonly Turn[], context: EncodeContext): JsonRecord[] {
  const contents: Content[] = [];
  for (const turn of turns) addTurn(contents, turn, context);
  const filled = contents.filter((content) => !isEmpty(content));
  if (context.model.demandsSignatures) signCalls(filled);
  const written = filled.map((content, index) => write(content, filled[index - 1]));
  // The conversation has to begin with the user.
  if (filled[0]?.role === 'model') written.unshift({ role: 'user', parts: [{ text: ' ' }] });
  return written;
}

function addTurn(contents: Content[], turn: Turn, context: EncodeContext): void {
  const { losses } = context;
  if (turn.name !== undefined) losses.dropped('message.name');
  // Instructions have a place at the beginning only; later ones are said by the user.
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

/** The last content when the same one goes on, else a new one. */
function contentFor(contents: Content[], role: Content['role']): Content {
  if (isEmpty(contents.at(-1))) contents.pop();
  const last = contents.at(-1);
  if (last?.role === role) return last;
  const content: Content = { role, parts: [], results: [], calls: [], isMessage: false };
  contents.push(content);
  return content;
}

/** Of a turn that said nothing the others must not be kept apart. */
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
 * In the current turn, which is all after the user's last message, the first call of each of the model's steps
 * must be signed (https://ai.google.dev/gemini-api/docs/thought-signatures). A step made by another model never is.
 */
function signCalls(contents: readonly Content[]): void {
  // What the user says beside results may be a mere remark of the client's on the step.
  const start = contents.findLastIndex(
    ({ isMessage, results }) => isMessage && results.length === 0,
  );
  for (const { parts } of contents.slice(start + 1)) {
    const call = parts.find((part) => part['functionCall'] !== undefined);
    if (call !== undefined) call['thoughtSignature'] ??= skipSignature;
  }
}

/** Null when nothing is said. */
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
