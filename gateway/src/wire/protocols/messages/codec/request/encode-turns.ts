import { type Block, type Turn, Unconvertible } from '#canonical/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { encodeBlock, setCacheControl } from './encode-content.ts';
import type { WireObject } from '../../wire.ts';

export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  content: WireObject[];
}

/**
 * Encodes turns as alternating messages that begin with the user's. The results of one message's calls come at the
 * beginning of the next, in the order of the calls. An earlier pass has paired calls and results.
 * @param takesSystemTurns the model accepts instructions between the turns.
 * @throws Unconvertible for an empty conversation.
 */
export function encodeTurns(
  turns: readonly Turn[],
  losses: Losses,
  takesSystemTurns: boolean,
): Message[] {
  const messages = mergeTurns(turns, losses, takesSystemTurns);
  dropOpenCalls(messages, losses);
  for (const [index, message] of messages.entries()) {
    message.content =
      message.role === 'assistant'
        ? callsLast(message.content)
        : resultsFirst(message.content, messages[index - 1]);
  }
  const [first] = messages;
  if (first === undefined) {
    throw new Unconvertible('messages', 'the conversation needs a user message');
  }
  if (first.role === 'assistant') {
    losses.approximated('messages');
    messages.unshift({ role: 'user', content: [textBlock('(conversation continues)')] });
  }
  return messages;
}

/** One message per run of blocks by one speaker. Empty blocks do not separate runs. */
function mergeTurns(turns: readonly Turn[], losses: Losses, takesSystemTurns: boolean): Message[] {
  const messages: Message[] = [];
  // Only the user can show images. The model's own are shown with the user's next message.
  let carriedBlocks: WireObject[] = [];
  const messageOf = (role: Message['role']): Message => {
    const last = messages.at(-1);
    if (last?.role === role) return last;
    const message: Message = { role, content: role === 'user' ? carriedBlocks : [] };
    if (role === 'user') carriedBlocks = [];
    messages.push(message);
    return message;
  };
  const speakers = followingSpeakers(turns);
  for (const [index, turn] of turns.entries()) {
    if (turn.name !== undefined) losses.dropped('message.name');
    let { role } = turn;
    if (
      role === 'system' &&
      !(takesSystemTurns && isPlaced(turn, messages.at(-1), speakers[index]))
    ) {
      losses.approximated('system');
      role = 'user';
    }
    for (const block of turn.blocks) {
      const wire = encodeBlock(block, losses);
      if (wire === null) {
        const last = messages.at(-1);
        if (last?.role === role) moveMarker(block, last.content.at(-1));
      } else if (role === 'assistant' && isShown(wire)) {
        losses.approximated(block.type === 'file' ? 'file' : 'image');
        carriedBlocks.push(wire);
      } else messageOf(role).content.push(wire);
    }
  }
  if (carriedBlocks.length > 0) messageOf('user');
  return messages;
}

/** Whether instructions may stay: they are text, follow the user, and only the model speaks after them. */
function isPlaced(
  { blocks }: Turn,
  last: Message | undefined,
  following: Turn['role'] | undefined,
): boolean {
  const isText = blocks.every(({ type }) => type === 'text');
  return isText && last !== undefined && last.role !== 'assistant' && following !== 'user';
}

/** For each turn, the next speaker, instructions aside. */
function followingSpeakers(turns: readonly Turn[]): readonly (Turn['role'] | undefined)[] {
  const speakers: (Turn['role'] | undefined)[] = [];
  let speaker: Turn['role'] | undefined;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    speakers[index] = speaker;
    const { role } = turns[index]!;
    if (role !== 'system') speaker = role;
  }
  return speakers;
}

const isShown = ({ type }: WireObject): boolean => type === 'image' || type === 'document';
const isCall = ({ type }: WireObject): boolean => type === 'tool_use';

/** Moves the cache marker of a block that is not sent to the block before it. */
export function moveMarker({ cache }: Block, previous: WireObject | undefined): void {
  const type = previous?.['type'];
  if (cache === undefined || previous === undefined) return;
  if (type !== 'thinking' && type !== 'redacted_thinking') setCacheControl(previous, cache);
}

/** Upstreams refuse a conversation that ends with calls, since their results have no place. */
function dropOpenCalls(messages: Message[], losses: Losses): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || !last.content.some(isCall)) return;
  losses.dropped('tool_call');
  last.content = last.content.filter((block) => !isCall(block));
  if (last.content.length === 0) messages.pop();
}

/** Upstreams refuse text after a call, even if the result follows. Calls of hosted tools keep their place. */
function callsLast(content: WireObject[]): WireObject[] {
  if (content.some(({ type }) => type === 'server_tool_use')) return content;
  return [...content.filter((block) => !isCall(block)), ...content.filter(isCall)];
}

function resultsFirst(content: WireObject[], before: Message | undefined): WireObject[] {
  const isResult = ({ type }: WireObject): boolean => type === 'tool_result';
  const order = new Map<unknown, number>();
  for (const { id } of before?.content.filter(isCall) ?? []) {
    if (!order.has(id)) order.set(id, order.size);
  }
  const place = ({ tool_use_id: id }: WireObject): number => order.get(id) ?? -1;
  const results = content.filter(isResult).toSorted((a, b) => place(a) - place(b));
  return [...results, ...content.filter((block) => !isResult(block))];
}

/** A text by the gateway. */
export function textBlock(value: string): WireObject {
  return { type: 'text', text: value };
}
