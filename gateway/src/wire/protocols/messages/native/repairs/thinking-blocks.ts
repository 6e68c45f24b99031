import { recordAt } from '../../../shared/values.ts';
import { type Block, type Draft, isPlain, type Message, type RepairContext } from './draft.ts';
import { turnOff } from './thinking.ts';

/**
 * Drops unsigned thinking. The vendor refuses what it did not sign; other upstreams may want theirs back unsigned. What
 * this gateway sealed for another upstream was removed before.
 */
export function dropUnsigned(draft: Draft): boolean {
  return draft.mapBlocks((block) => (isUnsigned(block, draft.context) ? null : block));
}

export function isUnsigned({ type, signature }: Block, { model }: RepairContext): boolean {
  return model.signsThoughts && type === 'thinking' && signature === '';
}

export function dropIncomplete(draft: Draft): boolean {
  return draft.mapBlocks((block) => (isIncomplete(block, draft.context) ? null : block));
}

export function isIncomplete(block: Block, { model }: RepairContext): boolean {
  if (block.type === 'redacted_thinking') return typeof block['data'] !== 'string';
  if (block.type !== 'thinking') return false;
  if (typeof block['thinking'] !== 'string') return true;
  return model.signsThoughts && typeof block['signature'] !== 'string';
}

/** In the middle of a step, the model requires the thinking with which the step began. Without it, thinking is off. */
export function stopThinking(draft: Draft): boolean {
  const { messages, root } = draft;
  if (messages === null || recordAt(root, 'thinking')['type'] !== 'enabled') return false;
  if (!isBrokenStep(messages)) return false;
  turnOff(draft);
  return true;
}

function isBrokenStep(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  if (last?.role !== 'user' || !hasResult(last)) return false;
  const end = messages.findLastIndex(({ role }) => role === 'assistant');
  const before = messages.slice(0, end).findLastIndex(({ role }) => role === 'user');
  const first = messages.slice(before + 1, end + 1).find(({ role }) => role === 'assistant');
  if (first === undefined) return false;
  const [block] = typeof first.content === 'string' ? [] : first.content;
  return block === undefined || (isPlain(block) && !isThought(block));
}

export function isThought({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function hasResult({ content }: Message): boolean {
  return typeof content !== 'string' && content.some(({ type }) => type === 'tool_result');
}
