import { type Block, type Draft, isPlain, type Message } from './draft.ts';
import { isThinking } from './thinking.ts';

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
  const kept = messages.slice(0, start).concat(turn.filter(({ content }) => content.length > 0));
  draft.messages =
    kept.at(-1)?.role === 'assistant' ? [...kept, { role: 'user', content: 'Continue.' }] : kept;
  return true;
}

function isSpoken(block: Block): boolean {
  return isPlain(block);
}
