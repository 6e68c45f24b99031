import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { decodeAnnotation, decodeLogprobs } from '../text-details.ts';
import {
  type Emit,
  type Handler,
  type OpenItem,
  type StreamState,
  streamedIndex,
} from './decode-stream-state.ts';

/** The parts of messages: text with its annotations, and refusals. */
export const textHandlers: readonly (readonly [string, Handler])[] = [
  [
    'response.output_text.delta',
    (state, event, emit) => {
      const { delta } = event;
      if (typeof delta !== 'string' || delta === '') return;
      sendText(state, itemOf(state, event), partOf(event), delta, event['logprobs'], emit);
    },
  ],
  [
    'response.refusal.delta',
    (state, event, emit) => {
      const { delta } = event;
      if (typeof delta !== 'string' || delta === '') return;
      sendRefusal(state, itemOf(state, event), partOf(event), delta, emit);
    },
  ],
  [
    'response.output_text.annotation.added',
    (state, event, emit) => {
      cite(state, itemOf(state, event), partOf(event), event['annotation'], emit);
    },
  ],
  [
    'response.output_text.done',
    (state, event, emit) => {
      restOfText(state, itemOf(state, event), partOf(event), event, emit);
    },
  ],
  [
    'response.refusal.done',
    (state, event, emit) => {
      restOfRefusal(state, itemOf(state, event), partOf(event), event, emit);
    },
  ],
  [
    'response.content_part.done',
    (state, event, emit) => {
      const part = recordAt(event, 'part');
      if (part['type'] === 'reasoning_text') return;
      finishPart(state, itemOf(state, event), partOf(event), part, emit);
    },
  ],
];

export function finishMessage(
  state: StreamState,
  openItem: OpenItem,
  item: JsonRecord,
  emit: Emit,
): void {
  const content = Array.isArray(item['content']) ? item['content'].filter(isRecord) : [];
  const parts = content.filter((part) => (part['text'] ?? part['refusal'] ?? '') !== '');
  const indexes = parts.map((_, position) => streamedIndex(openItem, position));
  for (const [position, part] of parts.entries()) {
    finishPart(state, openItem, indexes[position] ?? position, part, emit);
  }
  state.closeBlock(emit);
}

function finishPart(
  state: StreamState,
  item: OpenItem,
  index: number,
  part: JsonRecord,
  emit: Emit,
): void {
  if (part['type'] === 'refusal') restOfRefusal(state, item, index, part, emit);
  else {
    restOfText(state, item, index, part, emit);
    const annotations = Array.isArray(part['annotations']) ? part['annotations'] : [];
    for (const annotation of annotations.slice(item.sentAnnotations[index] ?? 0)) {
      cite(state, item, index, annotation, emit);
    }
  }
  if (state.isOpen(item, index)) state.closeBlock(emit);
}

function sendText(
  state: StreamState,
  item: OpenItem,
  part: number,
  text: string,
  tokens: unknown,
  emit: Emit,
): void {
  state.open(item, part, emit);
  item.sentLengths[part] = (item.sentLengths[part] ?? 0) + text.length;
  const logprobs = decodeLogprobs(tokens);
  emit(logprobs === undefined ? { type: 'text', text } : { type: 'text', text, logprobs });
}

function restOfText(
  state: StreamState,
  item: OpenItem,
  part: number,
  { text, logprobs }: JsonRecord,
  emit: Emit,
): void {
  const sentLength = item.sentLengths[part] ?? 0;
  if (typeof text !== 'string' || text.length <= sentLength) return;
  // Log probabilities went out with the streamed part.
  sendText(state, item, part, text.slice(sentLength), sentLength === 0 ? logprobs : [], emit);
}

function sendRefusal(
  state: StreamState,
  item: OpenItem,
  part: number,
  text: string,
  emit: Emit,
): void {
  state.open(item, part, emit);
  state.seenOutput.refusal = true;
  item.sentLengths[part] = (item.sentLengths[part] ?? 0) + text.length;
  emit({ type: 'refusal', text });
}

function restOfRefusal(
  state: StreamState,
  item: OpenItem,
  part: number,
  { refusal }: JsonRecord,
  emit: Emit,
): void {
  const sentLength = item.sentLengths[part] ?? 0;
  if (typeof refusal !== 'string' || refusal.length <= sentLength) return;
  sendRefusal(state, item, part, refusal.slice(sentLength), emit);
}

/** An annotation belongs to the open text. After the end of the text, it has no place. */
function cite(
  state: StreamState,
  item: OpenItem,
  part: number,
  annotation: unknown,
  emit: Emit,
): void {
  if (!state.isOpen(item, part)) return;
  item.sentAnnotations[part] = (item.sentAnnotations[part] ?? 0) + 1;
  emit({ type: 'citation', citation: decodeAnnotation(annotation) });
}

function itemOf(state: StreamState, event: JsonRecord): OpenItem {
  return state.itemOf(event, 'message');
}

function partOf(event: JsonRecord): number {
  const index = event['content_index'];
  return typeof index === 'number' ? index : 0;
}
