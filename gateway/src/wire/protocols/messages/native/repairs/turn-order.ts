import { GatewayError } from '#errors/index.ts';
import { type Block, type Draft, isPlain, type Message, textBlock, blocksIn } from './draft.ts';
import { isThinking } from './thinking.ts';
import { isResult } from './tool-values.ts';
import { leadingResults, openConversation, callIds, blocksOf } from './turns.ts';
import { isRecord } from '../../../shared/values.ts';

/** A begun response must not end with white space. */
export function trimBegun(draft: Draft): boolean {
  const { messages } = draft;
  const last = messages?.at(-1);
  if (messages === null || last?.role !== 'assistant') return false;
  const trimmed = trimLast(draft, last);
  if (trimmed === last) return false;
  draft.messages = [...messages.slice(0, -1), trimmed];
  return true;
}

function trimLast(draft: Draft, message: Message): Message {
  const { content } = message;
  if (typeof content === 'string') {
    const trimmed = content.trimEnd();
    return trimmed === content ? message : draft.change(message, { content: trimmed });
  }
  const block = content.at(-1);
  const value = block?.['text'];
  if (block?.type !== 'text' || typeof value !== 'string' || value === value.trimEnd())
    return message;
  const trimmed = draft.change(block, { text: value.trimEnd() });
  return draft.withBlocks(message, [...content.slice(0, -1), trimmed]);
}

/** Newer models, and all that think, require the last turn to be the user's. A paused hosted tool may continue. */
export function endWithUser(draft: Draft): boolean {
  const { messages, root, context } = draft;
  const last = messages?.at(-1);
  if (messages === null || last?.role !== 'assistant') return false;
  if (!context.model.refusesPrefill && !isThinking(root)) return false;
  const start = messages.findLastIndex(({ role }) => role !== 'assistant') + 1;
  const turn = messages.slice(start);
  if (!turn.every(({ content }) => typeof content === 'string' || content.every(isSpoken)))
    return false;
  const keptMessages = messages
    .slice(0, start)
    .concat(turn.filter(({ content }) => content.length > 0));
  draft.messages =
    keptMessages.at(-1)?.role === 'assistant'
      ? [...keptMessages, { role: 'user', content: 'Continue.' }]
      : keptMessages;
  return true;
}

function isSpoken(block: Block): boolean {
  return isPlain(block);
}

/** @throws GatewayError if the conversation is empty. */
export function beginWithUser(draft: Draft): boolean {
  const { messages, root } = draft;
  if (Array.isArray(root['messages']) && root['messages'].length === 0) {
    const values = { reason: 'messages must contain at least one message' };
    throw new GatewayError('invalid_value', { values, param: 'messages' });
  }
  if (messages?.[0]?.role !== 'assistant') return false;
  draft.messages = [{ role: 'user', content: '(conversation continues)' }, ...messages];
  return true;
}

/** The vendor joins adjacent messages of one speaker. Other upstreams require alternating speakers. */
export function takeTurns(draft: Draft): boolean {
  const { messages, context } = draft;
  if (messages === null || context.model.joinsTurns) return false;
  const runs: { readonly first: Message; readonly others: Message[] }[] = [];
  for (const message of messages) {
    const last = runs.at(-1);
    if (last?.first.role !== message.role || message.role === 'system') {
      runs.push({ first: message, others: [] });
    } else last.others.push(message);
  }
  if (runs.length === messages.length) return false;
  draft.messages = runs.map(({ first, others }) =>
    others.length === 0 ? first : draft.withBlocks(first, [first, ...others].flatMap(blocksOf)),
  );
  return true;
}

/** Moves tool results to the beginning of the user's turn. */
export function putResultsFirst(draft: Draft): boolean {
  const conversation = openConversation(draft);
  if (conversation === null) return false;
  for (const { role, parts } of conversation.turns) {
    const blocks = parts.flatMap((part) => part.blocks);
    const leading = leadingResults(blocks);
    const late = blocks.slice(leading).filter(isResult);
    const [first] = parts;
    if (role !== 'user' || late.length === 0 || first === undefined) continue;
    // An unknown block may have to precede its result.
    const lastLate = blocks.lastIndexOf(late.at(-1)!);
    if (!blocks.slice(leading, lastLate).every(isPlain)) continue;
    const moved = new Set(late);
    for (const part of parts) part.blocks = part.blocks.filter((block) => !moved.has(block));
    const at = parts.findIndex((part) => leadingResults(part.blocks) < part.blocks.length);
    const target = parts[Math.max(at, 0)] ?? first;
    target.blocks.splice(leadingResults(target.blocks), 0, ...late);
  }
  return conversation.finish();
}

/** Turns results without a call into text of the user. */
export function quoteOrphans(draft: Draft): boolean {
  const conversation = openConversation(draft);
  if (conversation === null) return false;
  for (const [index, turn] of conversation.turns.entries()) {
    if (turn.role !== 'user') continue;
    const requestedCalls: ReadonlySet<unknown> = new Set(callIds(conversation.turns[index - 1]));
    for (const part of turn.parts) {
      part.blocks = part.blocks.flatMap((block) =>
        isResult(block) && !requestedCalls.has(block['tool_use_id'])
          ? quote(draft, block)
          : [block],
      );
    }
  }
  return conversation.finish();
}

const shownTypes: ReadonlySet<string> = new Set(['image', 'document', 'search_result']);

function quote(draft: Draft, block: Block): Block[] {
  const { tool_use_id: id, content, cache_control: marker, is_error: failed } = block;
  const parts = blocksIn(content) ?? (typeof content === 'string' ? [textBlock(content)] : []);
  const spokenParts = parts.flatMap((part) => {
    if (shownTypes.has(part.type)) return [];
    return [typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part)];
  });
  const name = typeof id === 'string' ? id : 'unknown';
  const head = `[${failed === true ? 'Error' : 'Result'} of tool call ${name}]`;
  const quoted = [
    textBlock([head, ...spokenParts].join('\n')),
    ...parts.filter(({ type }) => shownTypes.has(type)),
  ];
  if (!isRecord(marker)) return quoted;
  const last = quoted.pop()!;
  return [...quoted, draft.change(last, { cache_control: marker })];
}
