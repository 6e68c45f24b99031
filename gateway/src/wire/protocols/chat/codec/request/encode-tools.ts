import type {
  CustomTool,
  FunctionTool,
  GenerationRequest,
  HostedTool,
  Tool,
  ToolChoice,
} from '#canonical/index.ts';
import { type Losses, notAvailable } from '../../../shared/text/losses.ts';
import { fitTools } from '../../../shared/tools/openai-tools.ts';
import { hostedWishes } from '../../../shared/tools/hosted-wishes.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { entryPrefix } from './decode-tools.ts';
import { type EncodeContext, ownMembers } from './message-members.ts';

type Tools = Pick<GenerationRequest, 'tools' | 'toolChoice' | 'parallelTools'>;

/**
 * Encodes `tools`, `tool_choice`, `parallel_tool_calls` and `web_search_options`, each only if it has an effect:
 * servers refuse a choice among no tools.
 * @throws Unconvertible if the choice requires an unavailable tool.
 */
export function encodeTools(requestTools: Tools, context: EncodeContext): JsonRecord {
  const request = { ...requestTools, tools: fitTools(requestTools.tools, context.losses) };
  const search = request.tools.find((tool) => isOwnSearch(tool) || standsForSearch(tool, context));
  const offered = request.tools.filter((tool) => isOffered(tool, request.toolChoice, context));
  const choice = encodeChoice(request, offered, context);
  const tools = choice.tools.map((tool) => encodeTool(tool, context));
  if (tools.length === 0 && search === undefined && request.toolChoice?.mode === 'required') {
    throw notAvailable('tool_choice', 'a required call without tools');
  }
  return {
    ...(search === undefined
      ? {}
      : {
          web_search_options: isOwnSearch(search)
            ? search.value
            : encodeWishes(search, context.losses),
        }),
    ...(tools.length > 0 && {
      tools,
      ...choice.members,
      ...(request.parallelTools !== null && { parallel_tool_calls: request.parallelTools }),
    }),
  };
}

/** Chat requests web search beside the tools. */
function isOwnSearch(tool: Tool): tool is HostedTool {
  return tool.type === 'hosted' && tool.protocol === 'chat' && tool.name === 'web_search_options';
}

function encodeWishes(tool: Tool, losses: Losses): JsonRecord {
  if (tool.type !== 'hosted') return {};
  const takes = ['user_location', 'search_context_size'] as const;
  const { user_location: location, ...wishes } = hostedWishes(tool, takes, losses);
  return {
    ...wishes,
    ...(location !== undefined && {
      user_location: { type: 'approximate', approximate: location },
    }),
  };
}

/** Only models made for search do it, and always. */
function standsForSearch(tool: Tool, { target }: EncodeContext): boolean {
  return target.traits.alwaysSearches && tool.type === 'hosted' && tool.kind === 'web-search';
}

/** A tool that another provider would run is dropped, unless the choice requires it. */
function isOffered(tool: Tool, choice: ToolChoice | null, context: EncodeContext): boolean {
  const { losses } = context;
  if (tool.type !== 'hosted') return true;
  if (tool.protocol === 'chat') return !isOwnSearch(tool);
  if (standsForSearch(tool, context)) {
    losses.approximated(`tools.${tool.name}`);
    return false;
  }
  if (choice?.mode === 'required' && choice.only?.includes(tool.name)) {
    throw notAvailable('tool_choice', `the tool '${tool.name}'`);
  }
  losses.dropped(`tools.${tool.name}`);
  return false;
}

function encodeTool(tool: Tool, context: EncodeContext): JsonRecord {
  switch (tool.type) {
    case 'function':
      return encodeFunction(tool, context);
    case 'custom':
      return encodeCustom(tool, context);
    case 'hosted':
      return tool.value as JsonRecord;
  }
}

function encodeFunction(tool: FunctionTool, { losses }: EncodeContext): JsonRecord {
  losses.foreign(tool.extensions);
  if (tool.cache !== undefined) losses.dropped('cache');
  const { entry, members } = ownToolMembers(tool);
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...(tool.description !== null && { description: tool.description }),
      parameters: tool.schema,
      ...(tool.strict !== null && { strict: tool.strict }),
      ...members,
    },
    ...entry,
  };
}

function ownToolMembers({ extensions }: FunctionTool | CustomTool) {
  const entry: Record<string, unknown> = {};
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(ownMembers(extensions))) {
    if (name.startsWith(entryPrefix)) entry[name.slice(entryPrefix.length)] = value;
    else members[name] = value;
  }
  return { entry, members };
}

function encodeCustom(tool: CustomTool, { losses }: EncodeContext): JsonRecord {
  losses.foreign(tool.extensions);
  const { name, description, grammar } = tool;
  const { entry, members } = ownToolMembers(tool);
  return {
    type: 'custom',
    custom: {
      name,
      ...(description !== null && { description }),
      ...(grammar !== null && { format: { type: 'grammar', grammar } }),
      ...members,
    },
    ...entry,
  };
}

/** The choice, and the tools that remain. */
function encodeChoice(
  { toolChoice }: Tools,
  tools: readonly Tool[],
  { target, losses }: EncodeContext,
): { readonly members: JsonRecord; readonly tools: readonly Tool[] } {
  if (toolChoice === null) return { members: {}, tools };
  const { mode, only } = toolChoice;
  if (only === null || mode === 'none') return { members: { tool_choice: mode }, tools };
  const names = new Set(only);
  const chosenTools = tools.filter((tool) => names.has(tool.name));
  const [single] = chosenTools;
  if (single === undefined) {
    if (mode === 'required') throw notAvailable('tool_choice', `the tool '${only.join("', '")}'`);
    return { members: { tool_choice: 'none' }, tools };
  }
  if (mode === 'required' && chosenTools.length === 1)
    return { members: { tool_choice: choiceOf(single) }, tools };
  if (target.traits.allowedTools) {
    const allowed_tools = { mode, tools: chosenTools.map(choiceOf) };
    return { members: { tool_choice: { type: 'allowed_tools', allowed_tools } }, tools };
  }
  losses.approximated('tool_choice');
  return { members: { tool_choice: mode }, tools: chosenTools };
}

function choiceOf(tool: Tool): JsonRecord {
  const { name } = tool;
  if (tool.type === 'hosted') return { type: name };
  return tool.type === 'custom'
    ? { type: 'custom', custom: { name } }
    : { type: 'function', function: { name } };
}
