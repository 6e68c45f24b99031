import type { CustomTool, FunctionTool, HostedTool, Tool, ToolChoice } from '#canonical/index.ts';
import { type Losses, notAvailable } from '../../../shared/text/losses.ts';
import { hostedWishes } from '../../../shared/tools/hosted-wishes.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { namespaceDescription } from './decode-tools.ts';
import { ownValue } from './request-extensions.ts';

interface Namespace {
  readonly type: 'namespace';
  readonly name: string;
  readonly description: string;
  readonly tools: object[];
}

/**
 * Encodes tools. Adjacent tools in one namespace share an entry.
 * @param hosts the upstream runs hosted tools, which can replace those of another provider
 */
export function encodeTools(tools: readonly Tool[], losses: Losses, hosts = false): object[] {
  const entries: object[] = [];
  let open: Namespace | null = null;
  for (const tool of tools) {
    if (tool.type === 'hosted') {
      open = null;
      const entry = encodeHosted(tool, losses, hosts);
      if (entry !== null) entries.push(entry);
      continue;
    }
    const entry =
      tool.type === 'function' ? encodeFunction(tool, losses) : encodeCustom(tool, losses);
    if (tool.namespace === undefined) {
      open = null;
      entries.push(entry);
      continue;
    }
    if (open?.name !== tool.namespace) {
      open = openNamespace(tool.namespace, tools);
      entries.push(open);
    }
    open.tools.push(entry);
  }
  return entries;
}

function openNamespace(name: string, tools: readonly Tool[]): Namespace {
  const described = tools
    .filter((tool) => tool.type !== 'hosted')
    .filter((tool) => tool.namespace === name)
    .map((tool) => ownValue(tool.extensions, namespaceDescription))
    .find((text) => typeof text === 'string');
  const description = typeof described === 'string' ? described : `The tools of ${name}.`;
  return { type: 'namespace', name, description, tools: [] };
}

function encodeFunction(tool: FunctionTool, losses: Losses): object {
  losses.foreign(tool.extensions);
  if (tool.cache !== undefined) losses.dropped('cache');
  return {
    type: 'function',
    name: tool.name,
    ...(tool.description !== null && { description: tool.description }),
    parameters: tool.schema,
    // Absent, it would mean true.
    strict: tool.strict ?? false,
    ...ownToolMembers(tool),
  };
}

function ownToolMembers({ extensions = [] }: FunctionTool | CustomTool): JsonRecord {
  const own = extensions
    .filter(({ protocol, name }) => protocol === 'responses' && name.startsWith('tool.'))
    .map(({ name, value }) => [name.slice('tool.'.length), value] as const);
  return Object.fromEntries(own);
}

function encodeCustom(tool: CustomTool, losses: Losses): object {
  losses.foreign(tool.extensions);
  const { name, description, grammar } = tool;
  return {
    type: 'custom',
    name,
    ...(description !== null && { description }),
    ...(grammar !== null && { format: { type: 'grammar', ...grammar } }),
    ...ownToolMembers(tool),
  };
}

const codeInterpreter = Object.freeze({ type: 'code_interpreter', container: { type: 'auto' } });

/** This protocol's types of the tools that several providers run. */
const equivalents: Readonly<Partial<Record<HostedTool['kind'], { readonly type: string }>>> = {
  'web-search': { type: 'web_search' },
  code: codeInterpreter,
};

function encodeHosted(tool: HostedTool, losses: Losses, hosts: boolean): object | null {
  if (tool.protocol === 'responses') return tool.value as object;
  const equivalent = hosts ? equivalents[tool.kind] : undefined;
  if (equivalent === undefined) {
    losses.dropped(`tools.${tool.name}`);
    return null;
  }
  losses.approximated(`tools.${tool.name}`);
  const takes = ['allowed_domains', 'user_location', 'search_context_size'] as const;
  const { allowed_domains, user_location: location, ...wishes } = hostedWishes(tool, takes, losses);
  return {
    ...equivalent,
    ...wishes,
    ...(allowed_domains !== undefined && { filters: { allowed_domains } }),
    ...(location !== undefined && { user_location: { type: 'approximate', ...location } }),
  };
}

/**
 * @param tools tells what the names stand for
 * @throws Unconvertible if the choice requires a tool that another provider runs.
 */
export function encodeToolChoice(
  { mode, only }: ToolChoice,
  tools: readonly Tool[],
  hosts = false,
): unknown {
  if (only === null || mode === 'none') return mode;
  // In reverse, so that the first tool of a name wins.
  const byName = new Map(tools.toReversed().map((tool) => [tool.name, tool]));
  const namedTools = only
    .map((name) => encodeNamed(name, byName.get(name), hosts))
    .filter((entry) => entry !== null);
  const [first] = namedTools;
  if (first === undefined) {
    if (mode === 'required') throw notAvailable('tool_choice', `the tool '${only.join("', '")}'`);
    return 'none';
  }
  if (mode === 'required' && namedTools.length === 1) return first;
  return { type: 'allowed_tools', mode, tools: namedTools };
}

/** Null for a tool that was dropped. */
function encodeNamed(name: string, tool: Tool | undefined, hosts: boolean): object | null {
  if (tool?.type !== 'hosted') return { type: tool?.type ?? 'function', name };
  if (tool.protocol === 'responses') return { type: name };
  const equivalent = hosts ? equivalents[tool.kind] : undefined;
  return equivalent === undefined ? null : { type: equivalent.type };
}
