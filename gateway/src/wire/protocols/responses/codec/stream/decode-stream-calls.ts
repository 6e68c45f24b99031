import { type JsonRecord, recordAt } from '../../../shared/values.ts';
import { callArguments, callId } from '../response/decode-response.ts';
import type { Emit, Handler, OpenItem, StreamState } from './decode-stream-state.ts';

const kinds: Readonly<Record<string, 'function' | 'custom'>> = {
  function_call: 'function',
  custom_tool_call: 'custom',
};

/** Calls of the client's tools: arguments as the model produces them. */
export const callHandlers: readonly (readonly [string, Handler])[] = [
  ['response.output_item.added', itemAdded],
  [
    'response.function_call_arguments.delta',
    (...input) => argumentsDelta('function_call', ...input),
  ],
  [
    'response.custom_tool_call_input.delta',
    (...input) => argumentsDelta('custom_tool_call', ...input),
  ],
];

/** Only calls have content before their parts come. */
function itemAdded(state: StreamState, event: JsonRecord, emit: Emit): void {
  const item = recordAt(event, 'item');
  const openItem = state.itemOf(event, String(item['type']));
  announce(state, openItem, item, emit);
}

function announce(state: StreamState, openItem: OpenItem, item: JsonRecord, emit: Emit): void {
  const kind = Object.hasOwn(kinds, openItem.type) ? kinds[openItem.type] : undefined;
  const { name, namespace } = item;
  if (kind === undefined || openItem.call !== null || typeof name !== 'string') return;
  state.closeBlock(emit);
  openItem.call = state.nextCall();
  emit({
    type: 'call-start',
    call: openItem.call,
    id: callId(item),
    name,
    ...(typeof namespace === 'string' && { namespace }),
    kind,
  });
}

function argumentsDelta(type: string, state: StreamState, event: JsonRecord, emit: Emit): void {
  const { delta } = event;
  const openItem = state.itemOf(event, type);
  // Without an announcement the call has no name yet. Its last event has everything.
  if (openItem.call === null || openItem.done || typeof delta !== 'string' || delta === '') return;
  send(openItem, delta, emit);
}

function send(openItem: OpenItem, text: string, emit: Emit): void {
  if (openItem.call === null) return;
  openItem.sentLengths[0] = (openItem.sentLengths[0] ?? 0) + text.length;
  emit({ type: 'call-arguments', call: openItem.call, text });
}

export function finishCall(
  state: StreamState,
  openItem: OpenItem,
  item: JsonRecord,
  emit: Emit,
): void {
  announce(state, openItem, item, emit);
  if (openItem.call === null) return;
  const kind = openItem.type === 'custom_tool_call' ? 'custom' : 'function';
  const rest = callArguments(item, kind).slice(openItem.sentLengths[0] ?? 0);
  if (rest !== '') send(openItem, rest, emit);
  emit({ type: 'call-end', call: openItem.call });
}
