import { skipSpace, skipValue } from '#json/index.ts';
import type { StreamDecoder } from '../../../codec.ts';
import { parseRecord } from '../../../shared/text/events.ts';
import type { StreamEvent } from '../../../protocol.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { decodeFinish, decodeOutputItem } from '../response/decode-response.ts';
import { callHandlers, finishCall } from './decode-stream-calls.ts';
import { finishReasoning, reasoningHandlers } from './decode-stream-reasoning.ts';
import { type Emit, type Handler, type OpenItem, StreamState } from './decode-stream-state.ts';
import { finishMessage, textHandlers } from './decode-stream-text.ts';

/** By event. Other events hold nothing beyond what their item repeats at its end. */
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...textHandlers,
  ...reasoningHandlers,
  ...callHandlers,
  ['response.output_item.done', decodeItemDone],
  ['response.completed', decodeTerminal],
  ['response.incomplete', decodeTerminal],
]);

/** Decodes events. The tap reads failures in the stream. */
export function createStreamDecoder(): StreamDecoder {
  const state = new StreamState();
  return {
    push: (event, emit) => push(state, event, emit),
    end: (emit) => endAll(state, emit),
  };
}

function push(state: StreamState, event: StreamEvent, emit: Emit): void {
  const { name, data } = event;
  if (data === null || (name !== null && !handlers.has(name))) return;
  const value = parseRecord(data);
  if (value === null) return;
  const handler = handlers.get(name ?? String(value['type']));
  handler?.(state, value, emit);
}

function decodeItemDone(state: StreamState, event: JsonRecord, emit: Emit): void {
  const item = recordAt(event, 'item');
  finishItem(state, state.itemOf(event, String(item['type'])), item, emit);
}

/** Sends the rest of an item that was not streamed. Each item ends once. */
function finishItem(state: StreamState, openItem: OpenItem, item: JsonRecord, emit: Emit): void {
  if (openItem.done) return;
  openItem.done = true;
  state.noteId(item);
  switch (openItem.type) {
    case 'message':
      return finishMessage(state, openItem, item, emit);
    case 'reasoning':
      return finishReasoning(state, openItem, item, emit);
    case 'function_call':
    case 'custom_tool_call':
      return finishCall(state, openItem, item, emit);
    default:
      return finishWhole(state, item, emit);
  }
}

/** Items that come in one piece. */
function finishWhole(state: StreamState, item: JsonRecord, emit: Emit): void {
  state.closeBlock(emit);
  for (const block of decodeOutputItem(item)) {
    state.seenOutput.any = true;
    emit({ type: 'block', block });
  }
}

/** The last event repeats the response. On some servers it is the first event with content. */
function decodeTerminal(state: StreamState, event: JsonRecord, emit: Emit): void {
  const response = recordAt(event, 'response');
  const output = Array.isArray(response['output']) ? response['output'].filter(isRecord) : [];
  for (const [index, item] of output.entries()) {
    if (state.isDone(index, item)) continue;
    finishItem(state, state.itemAt(index, String(item['type'])), item, emit);
  }
  endAll(state, emit);
  const status = event['type'] === 'response.incomplete' ? 'incomplete' : response['status'];
  const finish = decodeFinish({ ...response, status }, state.seenOutput);
  emit({ type: 'finish', finish });
}

/** Ends the items whose last event never came. */
function endAll(state: StreamState, emit: Emit): void {
  state.closeBlock(emit);
  for (const openItem of state.openItems()) {
    openItem.done = true;
    if (openItem.call !== null) emit({ type: 'call-end', call: openItem.call });
  }
}

const name = Buffer.from('"logprobs"');
const nothing = Buffer.from('[]');
const colon = 0x3a;
const openBracket = 0x5b;

/**
 * An event without log probabilities. The last events of an item and of the response repeat them all, several numbers
 * for each token, although they came with the tokens.
 */
export function withoutLogprobs(data: Buffer): Buffer {
  const keptPieces: Buffer[] = [];
  let from = 0;
  // Quotes inside strings are escaped. So this is a member's name, or a value, which no colon follows.
  for (let at = data.indexOf(name); at >= 0; at = data.indexOf(name, from)) {
    const after = skipSpace(data, at + name.length);
    const start = data[after] === colon ? skipSpace(data, after + 1) : after;
    const end = data[start] === openBracket ? skipValue(data, start, 0) : start;
    if (end < 0) return data;
    keptPieces.push(data.subarray(from, start));
    if (end > start) keptPieces.push(nothing);
    from = end;
  }
  return from === 0 ? data : Buffer.concat([...keptPieces, data.subarray(from)]);
}
