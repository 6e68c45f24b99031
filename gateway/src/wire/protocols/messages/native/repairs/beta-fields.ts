import { isRecord, type JsonRecord, recordAt } from '../../../values.ts';
import { type Draft, gone, type RepairContext } from './draft.ts';

/** Members that the vendor's SDK has in its beta requests only. Refused of a request that names no beta. */
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
 * Fields of betas go with the header that opens them, or not at all. Which header opens which is the vendor's to say
 * and changes, so one beta is enough. The form of the answer is no beta any more and goes to its place.
 */
export function dropBetaFields(draft: Draft): boolean {
  const { root, context } = draft;
  if (!hasClosedField(root, context)) return false;
  const { output_format: format } = root;
  for (const name of betaMembers) if (root[name] !== undefined) draft.set(name, gone);
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

/** Tools of servers that are not named any more. */
function dropToolsets(draft: Draft): void {
  const { tools } = draft;
  const kept = tools?.filter(({ type }) => type !== 'mcp_toolset');
  if (kept !== undefined && kept.length !== tools?.length) draft.tools = kept;
}

/** Some hosts have the betas in the body. */
export function hasClosedField(json: JsonRecord, { betas }: RepairContext): boolean {
  if (betas.trim() !== '' || json['anthropic_beta'] !== undefined) return false;
  if (betaMembers.some((name) => json[name] !== undefined)) return true;
  const config = json['output_config'];
  return isRecord(config) && config['task_budget'] !== undefined;
}
