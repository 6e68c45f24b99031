import {
  Unconvertible,
  type GenerationRequest,
  type HostedTool,
  type TextProtocolName,
  type LossList,
} from '#canonical/index.ts';

/** Kinds of tools that several vendors run; the encoder knows whether and how its upstream names its own. */
const sharedKinds: ReadonlySet<HostedTool['kind']> = new Set(['web-search', 'code', 'fetch']);

/**
 * Removes tools that the client's own vendor would run: other models do not have them, unless the catalogue lists them. A
 * required call of such a tool is refused.
 * @throws Unconvertible
 */
export function dropHostedTools(
  request: GenerationRequest,
  upstream: TextProtocolName,
  capabilities: ReadonlySet<string>,
  losses: LossList,
): GenerationRequest {
  const isKept = (tool: HostedTool) =>
    tool.protocol === upstream || (capabilities.has('hosted_tools') && sharedKinds.has(tool.kind));
  const droppedTools = request.tools
    .filter((tool) => tool.type === 'hosted')
    .filter((tool) => !isKept(tool));
  const { toolChoice } = request;
  const [first] = droppedTools;
  if (first === undefined) return withoutIdleChoice(request);
  const tools = request.tools.filter((tool) => tool.type !== 'hosted' || isKept(tool));
  const names = new Set(droppedTools.map(({ name }) => name));
  const isHosted = (name: string) => names.has(name);
  const only = toolChoice?.only?.filter((name) => !isHosted(name)) ?? null;
  if (toolChoice?.mode === 'required') {
    const forcedName = toolChoice.only?.find(isHosted);
    if (tools.length === 0 || (only !== null && only.length === 0)) {
      throw refusedTool(droppedTools.find(({ name }) => name === forcedName) ?? first);
    }
  }
  for (const tool of droppedTools) losses.dropped(`tools.${tool.name}`);
  return withoutIdleChoice({
    ...request,
    tools,
    toolChoice: toolChoice === null ? null : { ...toolChoice, only },
  });
}

/** Removes a tool choice without tools: upstreams refuse it, and it means nothing. */
function withoutIdleChoice(request: GenerationRequest): GenerationRequest {
  const { toolChoice, tools } = request;
  if (toolChoice === null) return request;
  if (tools.length === 0 && toolChoice.mode !== 'required') return { ...request, toolChoice: null };
  return toolChoice.only?.length === 0
    ? { ...request, toolChoice: { mode: 'none', only: null } }
    : request;
}

function refusedTool({ name }: HostedTool): Unconvertible {
  return new Unconvertible('tool_choice', `the tool '${name}' is not available with this model`);
}
