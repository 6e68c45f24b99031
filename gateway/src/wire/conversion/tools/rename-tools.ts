import type {
  ClientItem,
  CustomTool,
  FunctionTool,
  GenerationRequest,
  Tool,
  ToolChoice,
} from '#canonical/index.ts';
import type { CodecTraits } from '#protocols/index.ts';
import type { LossList } from '../losses.ts';
import { mapBlocks } from '../turns.ts';
import { customAsFunction, wrapInput } from './custom-input.ts';
import type { ToolNames } from './tool-names.ts';

type Traits = Pick<CodecTraits, 'customTools' | 'toolNamespaces'>;

/**
 * Gives every tool, call, result and choice the names that the upstream accepts, and turns custom tools into functions
 * if it has none.
 */
export function renameTools(
  request: GenerationRequest,
  names: ToolNames,
  traits: Traits,
  losses: LossList,
): GenerationRequest {
  const namespaceOf = (namespace: string | undefined) =>
    traits.toolNamespaces ? namespace : undefined;
  const tools = request.tools.map((tool): Tool => {
    if (tool.type === 'hosted') return tool;
    if (tool.namespace !== undefined && !traits.toolNamespaces) {
      losses.approximated('tools.namespace');
    }
    const name = names.toUpstream(tool.name, tool.namespace, itemOf(tool));
    if (tool.type === 'function' && tool.typed !== undefined)
      losses.approximated(`tools.${tool.name}`);
    const moved = { ...tool, name, namespace: namespaceOf(tool.namespace) };
    if (moved.type === 'function' || traits.customTools) return moved;
    losses.approximated('tools.custom');
    return customAsFunction(moved);
  });

  const nameOfCall = new Map<string, string>();
  const renamed = mapBlocks({ ...request, tools }, (block) => {
    if (block.type === 'tool-call') {
      const name = names.toUpstream(block.name, block.namespace, block.item);
      if (block.id !== null) nameOfCall.set(block.id, name);
      const wraps = block.kind === 'custom' && !traits.customTools;
      return {
        ...block,
        name,
        namespace: namespaceOf(block.namespace),
        kind: wraps ? 'function' : block.kind,
        arguments: wraps ? wrapInput(block.arguments) : block.arguments,
      };
    }
    if (block.type === 'tool-result') {
      const called = block.id === null ? undefined : nameOfCall.get(block.id);
      return {
        ...block,
        name: called ?? (block.name === null ? null : names.toUpstream(block.name, undefined)),
        kind: traits.customTools ? block.kind : 'function',
      };
    }
    return block;
  });
  return { ...renamed, toolChoice: renameChoice(request, names) };
}

function renameChoice(
  { toolChoice, tools }: GenerationRequest,
  names: ToolNames,
): ToolChoice | null {
  if (toolChoice?.only == null) return toolChoice;
  const named = new Map<string, FunctionTool | CustomTool>();
  for (const tool of tools) {
    if (tool.type === 'hosted' || named.has(tool.name)) continue;
    named.set(tool.name, tool);
  }
  const only = toolChoice.only.map((name) => {
    const tool = named.get(name);
    return names.toUpstream(name, tool?.namespace, itemOf(tool));
  });
  return { ...toolChoice, only };
}

function itemOf(tool: Tool | undefined): ClientItem | undefined {
  return tool?.type === 'function' ? tool.item : undefined;
}
