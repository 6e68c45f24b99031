import { isRecord } from '../../../shared/values.ts';
import { type Block, blocksIn, type Draft, textBlock } from './draft.ts';
import { isResult } from './tool-values.ts';
import { callIds, openConversation } from './turns.ts';

/** Turns results without a call into text of the user. */
export function quoteOrphans(draft: Draft): boolean {
  const conversation = openConversation(draft);
  if (conversation === null) return false;
  for (const [index, turn] of conversation.turns.entries()) {
    if (turn.role !== 'user') continue;
    const asked: ReadonlySet<unknown> = new Set(callIds(conversation.turns[index - 1]));
    for (const part of turn.parts) {
      part.blocks = part.blocks.flatMap((block) =>
        isResult(block) && !asked.has(block['tool_use_id']) ? quote(draft, block) : [block],
      );
    }
  }
  return conversation.finish();
}

const shown: ReadonlySet<string> = new Set(['image', 'document', 'search_result']);

function quote(draft: Draft, block: Block): Block[] {
  const { tool_use_id: id, content, cache_control: marker, is_error: failed } = block;
  const parts = blocksIn(content) ?? (typeof content === 'string' ? [textBlock(content)] : []);
  const said = parts.flatMap((part) => {
    if (shown.has(part.type)) return [];
    return [typeof part['text'] === 'string' ? part['text'] : JSON.stringify(part)];
  });
  const name = typeof id === 'string' ? id : 'unknown';
  const head = `[${failed === true ? 'Error' : 'Result'} of tool call ${name}]`;
  const quoted = [
    textBlock([head, ...said].join('\n')),
    ...parts.filter(({ type }) => shown.has(type)),
  ];
  if (!isRecord(marker)) return quoted;
  const last = quoted.pop()!;
  return [...quoted, draft.change(last, { cache_control: marker })];
}
