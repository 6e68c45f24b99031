import {
  Unconvertible,
  type GenerationRequest,
  type HostedTool,
  type TextProtocolName,
} from '#canonical/index.ts';
import type { LossList } from '../losses.ts';

/** Kinds that more than one vendor runs; whether and how the upstream names its own is its encoder's to know. */
const shared: ReadonlySet<HostedTool['kind']> = new Set(['web-search', 'code', 'fetch']);

/**
 * Tools that the client's own vendor would run: another model does not have them, unless the catalogue says that it
 * has some, so they are left out. A call of one that is demanded cannot be had.
 * @throws Unconvertible
 */
export function dropHostedTools(
  request: GenerationRequest,
  upstream: TextProtocolName,
  capabilities: ReadonlySet<string>,
  losses: LossList,
): GenerationRequest {
  const isKept = (tool: HostedTool) =>
    tool.protocol === upstream || (capabilities.has('hosted_tools') && shared.has(tool.kind));
  const hosted = request.tools
    .filter((tool) => tool.type === 'hosted')
    .filter((tool) => !isKept(tool));
  const { toolChoice } = request;
  const [first] = hosted;
  if (first === undefined) return withoutIdleChoice(request);
  const tools = request.tools.filter((tool) => tool.type !== 'hosted' || isKept(tool));
  const names = new Set(hosted.map(({ name }) => name));
  const isHosted = (name: string) => names.has(name);
  const only = toolChoice?.only?.filter((name) => !isHosted(name)) ?? null;
  if (toolChoice?.mode === 'required') {
    const forced = toolChoice.only?.find(isHosted);
    if (tools.length === 0 || (only !== null && only.length === 0)) {
      throw refused(hosted.find(({ name }) => name === forced) ?? first);
    }
  }
  for (const tool of hosted) losses.dropped(`tools.${tool.name}`);
  return withoutIdleChoice({
    ...request,
    tools,
    toolChoice: toolChoice === null ? null : { ...toolChoice, only },
  });
}

/** A choice among no tools: upstreams refuse it, and it says nothing. */
function withoutIdleChoice(request: GenerationRequest): GenerationRequest {
  const { toolChoice, tools } = request;
  if (toolChoice === null) return request;
  if (tools.length === 0 && toolChoice.mode !== 'required') return { ...request, toolChoice: null };
  return toolChoice.only?.length === 0
    ? { ...request, toolChoice: { mode: 'none', only: null } }
    : request;
}

function refused({ name }: HostedTool): Unconvertible {
  return new Unconvertible('tool_choice', `the tool '${name}' is not available with this model`);
}
