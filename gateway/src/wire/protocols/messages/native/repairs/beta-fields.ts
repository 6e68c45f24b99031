import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { type Draft, gone, type RepairContext, type Block } from './draft.ts';
import { blocksOfTurn, leadingResults, openConversation } from './turns.ts';

/** Members that the vendor's SDK has in beta requests only. The vendor refuses them without a beta header. */
const betaMembers = [
  'context_management',
  'mcp_servers',
  'compaction',
  'thread',
  'fallbacks',
  'fallback_credit_token',
  'billing_policy',
  'output_format',
] as const;

/**
 * Drops fields of betas if the request names no beta. The vendor decides which beta enables which field, and changes it,
 * so any beta is enough. The response format is no longer a beta and moves to its present place.
 */
export function dropBetaFields(draft: Draft): boolean {
  const { root, context } = draft;
  if (!hasClosedField(root, context)) return false;
  const { output_format: format } = root;
  // Without it the conversation would be lost.
  const keepsThread = recordAt(root, 'thread')['type'] === 'continue';
  for (const name of betaMembers) {
    if (root[name] !== undefined && !(name === 'thread' && keepsThread)) draft.set(name, gone);
  }
  const config = recordAt(root, 'output_config');
  const { task_budget: _, ...keptConfig } = config;
  const formed =
    isRecord(format) && config['format'] === undefined ? { ...keptConfig, format } : keptConfig;
  if (Object.keys(formed).length === 0) draft.set('output_config', gone);
  else if (config['task_budget'] !== undefined || formed !== keptConfig) {
    draft.set('output_config', draft.change(config, { task_budget: gone, ...formed }));
  }
  if (root['mcp_servers'] !== undefined) dropToolsets(draft);
  return true;
}

/** Drops the tools of servers that are no longer named. */
function dropToolsets(draft: Draft): void {
  const { tools } = draft;
  const keptTools = tools?.filter(({ type }) => type !== 'mcp_toolset');
  if (keptTools !== undefined && keptTools.length !== tools?.length) draft.tools = keptTools;
}

/** Some hosts expect the betas in the body. */
export function hasClosedField(json: JsonRecord, { betas }: RepairContext): boolean {
  if (betas.trim() !== '' || json['anthropic_beta'] !== undefined) return false;
  if (betaMembers.some((name) => json[name] !== undefined)) return true;
  const config = json['output_config'];
  return isRecord(config) && config['task_budget'] !== undefined;
}

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
