import type { NativeState, ReasoningBlock } from '#canonical/index.ts';
import { isRecord, type JsonRecord, textOf } from '../../shared/values.ts';

/**
 * Reasoning beside a message: `reasoning_content` (DeepSeek and most), `reasoning` (vLLM, routers) and
 * `reasoning_details` (routers: typed pieces, some opaque). Servers repeat one text in several of these members, so
 * only the first that has any text is read.
 *
 * Chat has no field for opaque state that every client returns. Some return `reasoning_details`, so the gateway's
 * state travels there, marked by its format.
 */
const ownFormat = 'sluice';

/** The `id` of a detail whose state belongs to the message's text. Any other id is that of a call. */
export const contentId = 'content';

/** The gateway's state in `reasoning_details`. It belongs to a call, to the text, or to a range of the reasoning. */
export interface OwnState {
  readonly state: NativeState;
  readonly id: string | null;
  /** In UTF-16 units of the whole reasoning text. */
  readonly start: number;
  readonly end: number;
}

export function ownDetail(own: OwnState, index: number): JsonRecord {
  const detail = { type: 'reasoning.encrypted', data: own.state.data, format: ownFormat, index };
  return own.id === null
    ? { ...detail, start: own.start, end: own.end }
    : { ...detail, id: own.id };
}

export function readOwnDetail(detail: JsonRecord): OwnState | null {
  const { data, format, id } = detail;
  if (format !== ownFormat || typeof data !== 'string') return null;
  const start = offset(detail['start']) ?? 0;
  return {
    state: { protocol: 'chat', kind: 'envelope', data },
    id: typeof id === 'string' ? id : null,
    start,
    end: Math.max(start, offset(detail['end']) ?? Number.MAX_SAFE_INTEGER),
  };
}

/** Whether a message or a delta has any of the members with reasoning. */
export function holdsReasoning(message: JsonRecord): boolean {
  const { reasoning_content: content, reasoning, reasoning_details: details } = message;
  return content !== undefined || reasoning !== undefined || details !== undefined;
}

export function detailsOf(message: JsonRecord): readonly JsonRecord[] {
  const details = message['reasoning_details'];
  return Array.isArray(details) ? details.filter(isRecord) : noDetails;
}

const noDetails: readonly JsonRecord[] = Object.freeze([]);

/**
 * Marks reasoning that came as `reasoning_content`, which its maker may want back beside calls. An empty state would
 * be none.
 */
export const contentState: NativeState = Object.freeze({
  protocol: 'chat',
  kind: 'reasoning-content',
  data: 'reasoning_content',
});

/**
 * In place of reasoning that nobody has, for upstreams that require it: some take an empty text for none
 * (https://github.com/NousResearch/hermes-agent/pull/17341).
 */
export const noReasoning = ' ';

/** Whether the visible reasoning of a message or of a delta is its `reasoning_content`. */
export function hasReasoningContent({ reasoning_content: text }: JsonRecord): boolean {
  return isSome(text);
}

/** The visible reasoning of a message or of a delta, once. */
export function reasoningText(message: JsonRecord, details: readonly JsonRecord[]): string {
  if (hasReasoningContent(message)) return textOf(message['reasoning_content']);
  const reasoning = message['reasoning'];
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  let text = '';
  for (const detail of details) text += detailText(detail);
  return text;
}

function detailText({ text, summary }: JsonRecord): string {
  if (typeof text === 'string') return text;
  return typeof summary === 'string' ? summary : '';
}

/** The text of Mistral's `thinking` parts: a string, or text parts. */
export function thinkingText(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return '';
  return thinking
    .map((part: unknown) =>
      isRecord(part) && typeof part['text'] === 'string' ? part['text'] : '',
    )
    .join('');
}

/** Whether a detail holds more than text that its maker wants back. */
export function isOpaque({ data, signature }: JsonRecord): boolean {
  return isSome(data) || isSome(signature);
}

const isSome = (value: unknown) => typeof value === 'string' && value !== '';

/**
 * Adds one streamed piece to the details so far. Pieces of one text are joined; anything else is a detail of its own.
 * A signature comes as a separate piece.
 */
export function mergeDetail(details: Record<string, unknown>[], piece: JsonRecord): void {
  const last = details.at(-1);
  const { type, index, text, summary, ...others } = piece;
  const continues = last?.['type'] === type && last?.['index'] === index;
  if (last === undefined || !continues || isSome(piece['data'])) {
    details.push({ ...piece });
    return;
  }
  if (typeof text === 'string') last['text'] = textOf(last['text']) + text;
  if (typeof summary === 'string') last['summary'] = textOf(last['summary']) + summary;
  for (const [name, value] of Object.entries(others)) {
    if (value !== null && value !== '') last[name] = value;
  }
}

/** An upstream's details, kept whole because it wants them back unchanged. */
export function detailsState(details: readonly JsonRecord[]): NativeState {
  return { protocol: 'chat', kind: 'encrypted', data: JSON.stringify(details) };
}

/** The details in such a state; empty if the state is of another kind. */
export function detailsIn(state: NativeState | undefined): readonly unknown[] {
  if (state?.protocol !== 'chat' || state.kind !== 'encrypted') return noDetails;
  try {
    const details: unknown = JSON.parse(state.data);
    return Array.isArray(details) ? (details as readonly unknown[]) : noDetails;
  } catch {
    return noDetails;
  }
}

export interface MessageReasoning {
  readonly blocks: ReasoningBlock[];
  /** The state of calls by their ids, and of the text by `contentId`. */
  readonly states: ReadonlyMap<string, NativeState>;
}

/** All reasoning of one assistant message, from a response or from history. */
export function readReasoning(message: JsonRecord): MessageReasoning {
  const details = detailsOf(message);
  const own: OwnState[] = [];
  const foreign: JsonRecord[] = [];
  for (const detail of details) {
    const state = readOwnDetail(detail);
    if (state === null) foreign.push(detail);
    else own.push(state);
  }
  const states = new Map<string, NativeState>();
  for (const { id, state } of own) if (id !== null) states.set(id, state);
  const blocks = cutReasoning(
    reasoningText(message, foreign),
    own.filter(({ id }) => id === null),
  );
  if (foreign.some(isOpaque)) {
    const [first = { type: 'reasoning', text: '' } as const, ...others] = blocks;
    return { blocks: [{ state: detailsState(foreign), ...first }, ...others], states };
  }
  return { blocks, states };
}

/** One block for each state with its range of the text, and blocks without state for the text between. */
function cutReasoning(text: string, own: readonly OwnState[]): ReasoningBlock[] {
  const blocks: ReasoningBlock[] = [];
  let at = 0;
  for (const { state, start, end } of own) {
    const between = text.slice(at, start).replace(/^\n\n|\n\n$/g, '');
    if (between !== '') blocks.push({ type: 'reasoning', text: between });
    blocks.push({ type: 'reasoning', text: text.slice(Math.max(at, start), end), state });
    at = Math.max(at, end);
  }
  const last = at === 0 ? text : text.slice(at).replace(/^\n\n/, '');
  if (last !== '') blocks.push({ type: 'reasoning', text: last });
  return blocks;
}

function offset(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
