import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { type Draft, gone, type RepairContext } from './draft.ts';

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
  const { task_budget: _, ...kept } = config;
  const formed = isRecord(format) && config['format'] === undefined ? { ...kept, format } : kept;
  if (Object.keys(formed).length === 0) draft.set('output_config', gone);
  else if (config['task_budget'] !== undefined || formed !== kept) {
    draft.set('output_config', draft.change(config, { task_budget: gone, ...formed }));
  }
  if (root['mcp_servers'] !== undefined) dropToolsets(draft);
  return true;
}

/** Drops the tools of servers that are no longer named. */
function dropToolsets(draft: Draft): void {
  const { tools } = draft;
  const kept = tools?.filter(({ type }) => type !== 'mcp_toolset');
  if (kept !== undefined && kept.length !== tools?.length) draft.tools = kept;
}

/** Some hosts expect the betas in the body. */
export function hasClosedField(json: JsonRecord, { betas }: RepairContext): boolean {
  if (betas.trim() !== '' || json['anthropic_beta'] !== undefined) return false;
  if (betaMembers.some((name) => json[name] !== undefined)) return true;
  const config = json['output_config'];
  return isRecord(config) && config['task_budget'] !== undefined;
}
