import type { Block, TextBlock, Turn, NativeState, ToolCallBlock } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../../../shared/values.ts';
import { decodeContent } from './decode-parts.ts';
import { messageLeftovers } from './message-members.ts';
import { readCache } from './request-fields.ts';
import { contentId, readReasoning } from '../reasoning.ts';
import { readCall, readFunctionCall } from '../tool-calls.ts';
import {
  invalid,
  readList,
  readString,
  requireRecord,
} from '../../../shared/text/request-values.ts';

interface Conversation {
  readonly system: TextBlock[];
  readonly turns: Turn[];
  /** Results of the latest tool messages: adjacent tool messages make one turn. */
  results: Block[] | null;
}

type MessageDecoder = (conversation: Conversation, message: JsonRecord, param: string) => void;

/**
 * @throws GatewayError `invalid_value` with the path of the wrong value, such as `messages.3.role`.
 */
export function decodeMessages(value: unknown): {
  readonly system: readonly TextBlock[];
  readonly turns: readonly Turn[];
} {
  const conversation: Conversation = { system: [], turns: [], results: null };
  readList(value, 'messages').forEach((item, index) => {
    const param = `messages.${index}`;
    const message = requireRecord(item, param);
    const role = readString(message['role'], `${param}.role`);
    if (role === null) throw invalid(`${param}.role`, 'is required');
    const decode = decoders.get(role);
    if (decode === undefined) {
      throw invalid(
        `${param}.role`,
        `must be one of ${[...decoders.keys()].join(', ')}, not '${role}'`,
      );
    }
    if (role !== 'tool' && role !== 'function') conversation.results = null;
    decode(conversation, message, param);
  });
  return { system: conversation.system, turns: conversation.turns };
}

const decoders: ReadonlyMap<string, MessageDecoder> = new Map<string, MessageDecoder>([
  ['system', decodeSystem],
  ['developer', decodeSystem],
  ['user', decodeUser],
  [
    'assistant',
    ({ turns }, message, param) =>
      addTurn(turns, 'assistant', message, decodeAssistant(message, param)),
  ],
  ['tool', decodeTool],
  ['function', decodeFunction],
]);

const plainMembers = new Set(['role', 'content', 'name', 'cache_control']);
const toolMembers = new Set([...plainMembers, 'tool_call_id']);

/** Leading instructions, as far as they are text, belong to the conversation. Later ones keep their place. */
function decodeSystem({ system, turns }: Conversation, message: JsonRecord, param: string): void {
  const blocks = withMessageCache(readContent(message, param), message);
  const others = messageLeftovers(message, plainMembers);
  const isLeading = turns.length === 0 && isAbsent(message['name']) && others.length === 0;
  if (isLeading && blocks.every(isText)) system.push(...blocks);
  else addTurn(turns, 'system', message, [...blocks, ...others]);
}

function decodeUser({ turns }: Conversation, message: JsonRecord, param: string): void {
  const blocks = withMessageCache(readContent(message, param), message);
  addTurn(turns, 'user', message, [...blocks, ...messageLeftovers(message, plainMembers)]);
}

function decodeTool(conversation: Conversation, message: JsonRecord, param: string): void {
  const id = readString(message['tool_call_id'], `${param}.tool_call_id`);
  if (id === null || id === '') throw invalid(`${param}.tool_call_id`, 'is required');
  addResult(conversation, message, param, id, null);
}

/** The legacy form of a result: it answers the call with that name. */
function decodeFunction(conversation: Conversation, message: JsonRecord, param: string): void {
  const name = readString(message['name'], `${param}.name`);
  if (name === null || name === '') throw invalid(`${param}.name`, 'is required');
  addResult(conversation, message, param, null, name);
}

function addResult(
  conversation: Conversation,
  message: JsonRecord,
  param: string,
  id: string | null,
  name: string | null,
): void {
  const content = isAbsent(message['content']) ? [] : readContent(message, param);
  if (conversation.results === null) {
    conversation.results = [];
    conversation.turns.push({ role: 'user', blocks: conversation.results });
  }
  conversation.results.push(
    { type: 'tool-result', id, name, content, isError: false, ...readCache(message) },
    ...messageLeftovers(message, toolMembers),
  );
}

function readContent(message: JsonRecord, param: string): Block[] {
  return decodeContent(message['content'], `${param}.content`);
}

function addTurn(turns: Turn[], role: Turn['role'], message: JsonRecord, blocks: Block[]): void {
  const { name } = message;
  turns.push(typeof name === 'string' ? { role, blocks, name } : { role, blocks });
}

/** Routers accept a cache marker on a message, for the prompt up to its end. */
function withMessageCache(blocks: Block[], message: JsonRecord): Block[] {
  const last = blocks.at(-1);
  if (last === undefined) return blocks;
  return [...blocks.slice(0, -1), { ...last, ...readCache(message) }];
}

function isText(block: Block): block is TextBlock {
  return block.type === 'text';
}

const knownMembers = new Set(
  'role content name refusal tool_calls function_call reasoning reasoning_content reasoning_details cache_control'.split(
    ' ',
  ),
);

/**
 * The blocks of an assistant message in history, in the order in which a model produces them.
 * @throws GatewayError `invalid_value`
 */
function decodeAssistant(message: JsonRecord, param: string): Block[] {
  const { blocks, states } = readReasoning(message);
  const calls = readCalls(message, param);
  const textState = states.get(contentId);
  return [
    ...blocks,
    ...readText(message, param, calls.length > 0, textState),
    ...calls.map((call) => withState(call, call.id === null ? undefined : states.get(call.id))),
    ...messageLeftovers(message, knownMembers),
  ];
}

function readText(
  message: JsonRecord,
  param: string,
  hasCalls: boolean,
  state: NativeState | undefined,
): Block[] {
  const { content } = message;
  const refusal = readString(message['refusal'], `${param}.refusal`) ?? '';
  const blocks = isAbsent(content) ? [] : decodeContent(content, `${param}.content`);
  // Beside a call or a refusal, clients write an empty text for none.
  const isNothing = content === '' && (hasCalls || refusal !== '');
  const writtenBlocks: Block[] = isNothing ? [] : blocks;
  if (refusal !== '') writtenBlocks.push({ type: 'refusal', text: refusal });
  const last = writtenBlocks.at(-1);
  if (last !== undefined)
    writtenBlocks[writtenBlocks.length - 1] = { ...last, ...readCache(message) };
  const lastText = writtenBlocks.findLastIndex(({ type }) => type === 'text');
  return writtenBlocks.map((block, index) =>
    index === lastText ? withState(block, state) : block,
  );
}

function readCalls(message: JsonRecord, param: string): ToolCallBlock[] {
  const calls = readList(message['tool_calls'], `${param}.tool_calls`).map((entry, index) => {
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
