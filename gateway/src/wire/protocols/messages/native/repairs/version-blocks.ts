import { recordAt } from '../../../shared/values.ts';
import { type Block, type Draft, gone, type RepairContext } from './draft.ts';
import { blocksOfTurn, leadingResults, openConversation } from './turns.ts';

/** In this version only users may show documents, and their text has no citations. */
const strictVersion = '2026-10-21';

export function isStrict({ version }: RepairContext): boolean {
  return version === strictVersion;
}

/** Moves a document of the model to the user's next turn. */
export function fitVersion(draft: Draft): boolean {
  if (!isStrict(draft.context)) return false;
  const changed = draft.mapBlocks((block, role) =>
    role !== 'assistant' && isCiting(block)
      ? draft.change(block, { citations: gone })
      : withoutCitations(draft, block),
  );
  return showDocuments(draft) || changed;
}

function isCiting({ type, citations }: Block): boolean {
  return type === 'text' && Array.isArray(citations) && citations.length > 0;
}

/** Includes the texts in search results. */
function withoutCitations(draft: Draft, block: Block): Block {
  const { type, content } = block;
  if (type !== 'search_result' || !Array.isArray(content)) return block;
  const texts = content as readonly Block[];
  const next = draft.mapList(texts, (part) =>
    isCiting(recordAt({ part }, 'part') as Block) ? draft.change(part, { citations: gone }) : part,
  );
  return next === texts ? block : draft.change(block, { content: next });
}

function showDocuments(draft: Draft): boolean {
  const conversation = openConversation(draft);
  if (conversation === null) return false;
  for (const [index, turn] of conversation.turns.entries()) {
    if (turn.role !== 'assistant') continue;
    const documents = blocksOfTurn(turn).filter(isDocument);
    if (documents.length === 0) continue;
    const target = conversation.turns[index + 1]?.parts[0] ?? conversation.addUserPart();
    for (const part of turn.parts) part.blocks = part.blocks.filter((block) => !isDocument(block));
    target.blocks.splice(leadingResults(target.blocks), 0, ...documents);
  }
  return conversation.finish();
}

const isDocument = ({ type }: Block): boolean => type === 'document';
