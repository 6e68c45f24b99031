import type { Block, NativeState, ToolCallBlock } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../../../shared/values.ts';
import { decodeContent } from './decode-parts.ts';
import { messageLeftovers } from './message-members.ts';
import { contentId, readReasoning } from '../reasoning.ts';
import { invalid, readArray, readCache, readString } from './request-fields.ts';
import { readCall, readFunctionCall } from '../tool-calls.ts';

const known = new Set(
  'role content name refusal tool_calls function_call reasoning reasoning_content reasoning_details cache_control'.split(
    ' ',
  ),
);

/**
 * The blocks of an assistant message in history, in the order in which a model produces them.
 * @throws GatewayError `invalid_value`
 */
export function decodeAssistant(message: JsonRecord, param: string): Block[] {
  const { blocks, states } = readReasoning(message);
  const calls = readCalls(message, param);
  const textState = states.get(contentId);
  return [
    ...blocks,
    ...readText(message, param, calls.length > 0, textState),
    ...calls.map((call) => withState(call, call.id === null ? undefined : states.get(call.id))),
    ...messageLeftovers(message, known),
  ];
}

function readText(
  message: JsonRecord,
  param: string,
  hasCalls: boolean,
  state: NativeState | undefined,
): Block[] {
  const { content } = message;
  const refusal = readString(message, 'refusal', `${param}.refusal`) ?? '';
  const blocks = isAbsent(content) ? [] : decodeContent(content, `${param}.content`);
  // Beside a call or a refusal, clients write an empty text for none.
  const isNothing = content === '' && (hasCalls || refusal !== '');
  const written: Block[] = isNothing ? [] : blocks;
  if (refusal !== '') written.push({ type: 'refusal', text: refusal });
  const last = written.at(-1);
  if (last !== undefined) written[written.length - 1] = { ...last, ...readCache(message) };
  const lastText = written.findLastIndex(({ type }) => type === 'text');
  return written.map((block, index) => (index === lastText ? withState(block, state) : block));
}

function readCalls(message: JsonRecord, param: string): ToolCallBlock[] {
  const calls = readArray(message['tool_calls'], `${param}.tool_calls`).map((entry, index) => {
    const call = readCall(entry);
    if (call !== null) return call;
    throw invalid(`${param}.tool_calls.${index}`, 'must name a function or a custom tool');
  });
  const single = readFunctionCall(message['function_call']);
  return single === null || calls.length > 0 ? calls : [single];
}

function withState<B extends Block>(block: B, state: NativeState | undefined): B {
  return state === undefined ? block : { ...block, state };
}
