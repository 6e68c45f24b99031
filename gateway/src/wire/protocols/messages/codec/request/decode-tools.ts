import type { HostedTool, Tool, ToolChoice } from '#canonical/index.ts';
import { quoted, invalid } from '../../../shared/text/request-values.ts';
import { isAbsent, isRecord, type JsonRecord, optionalText } from '../../../shared/values.ts';
import { clientRunTool } from './client-run.ts';
import { decodeBase } from './extensions.ts';
import { requireName } from '../../wire.ts';

const toolMembers = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
]);

/** Hosted tools, by the prefix of their dated types. */
const hosted: readonly (readonly [prefix: string, kind: HostedTool['kind']])[] = [
  ['web_search_', 'web-search'],
  ['web_fetch_', 'fetch'],
  ['code_execution_', 'code'],
];

/** @throws GatewayError `invalid_value`. */
export function decodeTools(tools: unknown): Tool[] {
  if (isAbsent(tools)) return [];
  if (!Array.isArray(tools)) throw invalid('tools', 'must be a list');
  return tools.map((tool: unknown, index) => {
    if (!isRecord(tool)) throw invalid(`tools.${index}`, 'must be an object');
    return decodeTool(tool, `tools.${index}`);
  });
}

function decodeTool(tool: JsonRecord, param: string): Tool {
  const type = optionalText(tool['type']) ?? 'custom';
  // Typed tools have no schema here: the vendor's models know it.
  if (type !== 'custom') return clientRunTool(tool, type) ?? decodeTyped(tool, type);
  const schema = tool['input_schema'];
  if (!isAbsent(schema) && !isRecord(schema)) {
    throw invalid(`${param}.input_schema`, 'must be an object');
  }
  const { strict } = tool;
  return {
    type: 'function',
    name: requireName(tool['name'], `${param}.name`),
    description: optionalText(tool['description']),
    schema: schema ?? null,
    strict: typeof strict === 'boolean' ? strict : null,
    ...decodeBase(tool, toolMembers),
  };
}

function decodeTyped(tool: JsonRecord, type: string): HostedTool {
  const kind = hosted.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'other';
  const name = optionalText(tool['name']) ?? type;
  return { type: 'hosted', kind, protocol: 'messages', name, value: tool };
}

const modes: Readonly<Record<string, ToolChoice['mode']>> = {
  auto: 'auto',
  any: 'required',
  tool: 'required',
  none: 'none',
};

interface Choice {
  readonly toolChoice: ToolChoice | null;
  readonly parallelTools: boolean | null;
}

/** @throws GatewayError `invalid_value`. */
export function decodeToolChoice(choice: unknown): Choice {
  if (isAbsent(choice)) return { toolChoice: null, parallelTools: null };
  if (!isRecord(choice)) throw invalid('tool_choice', 'must be an object');
  const { type, disable_parallel_tool_use: disabled } = choice;
  const mode = typeof type === 'string' && Object.hasOwn(modes, type) ? modes[type] : undefined;
  if (mode === undefined) {
    throw invalid('tool_choice.type', `must be auto, any, tool or none, not ${quoted(type)}`);
  }
  const only = type === 'tool' ? [requireName(choice['name'], 'tool_choice.name')] : null;
  return {
    toolChoice: { mode, only },
    parallelTools: typeof disabled === 'boolean' ? !disabled : null,
  };
}
