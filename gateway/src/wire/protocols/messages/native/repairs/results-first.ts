import { type Draft, isPlain } from './draft.ts';
import { isResult } from './tool-values.ts';
import { leadingResults, openConversation } from './turns.ts';

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
