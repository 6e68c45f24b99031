import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { decodeState } from '../response/decode-response.ts';
import {
  type Emit,
  type Handler,
  type OpenItem,
  type StreamState,
  streamedIndex,
} from './decode-stream-state.ts';

type Family = 'summary' | 'content';

const partKey = Object.freeze({ summary: 'summary_index', content: 'content_index' });

/** Reasoning and its summary. A server that sends both would repeat itself, so only the first counts. */
export const reasoningHandlers: readonly (readonly [string, Handler])[] = [
  ['response.reasoning_summary_text.delta', deltaOf('summary')],
  ['response.reasoning_summary_text.done', doneOf('summary')],
  ['response.reasoning_text.delta', deltaOf('content')],
  ['response.reasoning_text.done', doneOf('content')],
];

function deltaOf(family: Family): Handler {
  return (state, event, emit) => {
    const { delta } = event;
    if (typeof delta !== 'string' || delta === '') return;
    send(state, state.itemOf(event, 'reasoning'), family, partOf(event, family), delta, emit);
  };
}

function doneOf(family: Family): Handler {
  return (state, event, emit) => {
    const item = state.itemOf(event, 'reasoning');
    sendRest(state, item, family, partOf(event, family), event['text'], emit);
  };
}

/** The state to be returned is known only when the item is complete. */
export function finishReasoning(
  state: StreamState,
  openItem: OpenItem,
  item: JsonRecord,
  emit: Emit,
): void {
  for (const family of ['summary', 'content'] as const) {
    const list = Array.isArray(item[family]) ? item[family].filter(isRecord) : [];
    const parts = list.filter(({ text }) => text !== '');
    const indexes = parts.map((_, position) => streamedIndex(openItem, position));
    for (const [position, { text }] of parts.entries()) {
      sendRest(state, openItem, family, indexes[position] ?? position, text, emit);
    }
  }
  const native = decodeState(item['encrypted_content'], item['id']);
  if (native !== undefined) {
    state.open(openItem, 0, emit);
    emit({ type: 'state', state: native });
  }
  state.closeBlock(emit);
}

function send(
  state: StreamState,
  item: OpenItem,
  family: Family,
  part: number,
  text: string,
  emit: Emit,
): void {
  item.family ??= family;
  if (item.family !== family) return;
  // All parts of an item make one block.
  state.open(item, 0, emit);
  const isNextPart = item.sentLengths[part] === undefined && item.sentLengths.length > 0;
  item.sentLengths[part] = (item.sentLengths[part] ?? 0) + text.length;
  const spokenText = isNextPart ? `\n\n${text}` : text;
  emit(
    family === 'summary'
      ? { type: 'reasoning', text: spokenText, summary: true }
      : { type: 'reasoning', text: spokenText },
  );
}

function sendRest(
  state: StreamState,
  item: OpenItem,
  family: Family,
  part: number,
  text: unknown,
  emit: Emit,
): void {
  const sentLength = item.sentLengths[part] ?? 0;
  if (typeof text !== 'string' || (item.family ?? family) !== family || text.length <= sentLength)
    return;
  send(state, item, family, part, text.slice(sentLength), emit);
}

function partOf(event: JsonRecord, family: Family): number {
  const index = event[partKey[family]];
  return typeof index === 'number' ? index : 0;
}
