import type {
  ClientItem,
  FunctionTool,
  CustomTool,
  GenerationRequest,
  Tool,
  ToolCallBlock,
  ToolChoice,
  LossList,
} from '#canonical/index.ts';
import { type CodecTraits, planToolNames } from '#protocols/index.ts';
import { mapBlocks } from '../turns.ts';
import { customAsFunction, wrapInput } from './custom-input.ts';

/** A tool as the client knows it. */
export interface ClientTool {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly kind: 'function' | 'custom';
  /** As in `FunctionTool`. */
  readonly item?: ClientItem | undefined;
}

/** Maps the client's tool names to the upstream's, and back. */
export interface ToolNames {
  toUpstream(name: string, namespace: string | undefined, item?: ClientItem): string;
  /** The client's tools by the names that the upstream received. */
  readonly clientTools: ReadonlyMap<string, ClientTool>;
}

type Traits = Pick<CodecTraits, 'toolName' | 'toolNameLength' | 'toolNamespaces'>;

/** Creates names that the upstream accepts. A namespace becomes part of the name if the upstream has none. */
export function nameTools(request: GenerationRequest, traits: Traits): ToolNames {
  const tools = [...clientTools(request)];
  const upstream = planToolNames(
    tools.map((tool) => {
      const name = wishedName(tool, traits);
      const isOwn = name === tool.name && tool.item === undefined;
      return { key: keyOf(tool.name, tool.namespace, tool.item), name, isOwn };
    }),
    traits,
  );
  const client = new Map<string, ClientTool>();
  for (const tool of tools) {
    const name = upstream.get(keyOf(tool.name, tool.namespace, tool.item));
    if (name !== undefined && !client.has(name)) client.set(name, tool);
  }
  return {
    toUpstream: (name, namespace, item) =>
      upstream.get(keyOf(name, namespace, item)) ?? upstream.get(keyOf(name, undefined)) ?? name,
    clientTools: client,
  };
}

/** Definitions first: the history may contain tools that are gone, and with another kind. */
function* clientTools(request: GenerationRequest): Generator<ClientTool> {
  for (const tool of request.tools) if (isNamed(tool)) yield clientTool(tool, tool.type);
  for (const turn of request.turns) {
    for (const block of turn.blocks) {
      if (block.type === 'tool-call') yield clientTool(block, block.kind);
    }
  }
}

function isNamed(tool: Tool): tool is FunctionTool | CustomTool {
  return tool.type !== 'hosted';
}

function clientTool(
  tool: Pick<ToolCallBlock, 'name' | 'namespace' | 'item'> | CustomTool,
  kind: ClientTool['kind'],
): ClientTool {
  const { name, namespace } = tool;
  const { item } = 'grammar' in tool ? {} : tool;
  return { name, namespace, kind, ...(item !== undefined && { item }) };
}

function keyOf(name: string, namespace: string | undefined, item?: ClientItem): string {
  // Tells it from a function of the same name.
  if (item !== undefined) return JSON.stringify([item, null, name]);
  return namespace === undefined ? name : JSON.stringify([namespace, name]);
}

function wishedName({ name, namespace }: ClientTool, traits: Traits): string {
  return namespace === undefined || traits.toolNamespaces ? name : `${namespace}__${name}`;
}

type ToolTraits = Pick<CodecTraits, 'customTools' | 'toolNamespaces'>;

/**
 * Gives every tool, call, result and choice the names that the upstream accepts, and turns custom tools into functions
 * if it has none.
 */
export function renameTools(
  request: GenerationRequest,
  names: ToolNames,
  traits: ToolTraits,
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
    const namedTool = { ...tool, name, namespace: namespaceOf(tool.namespace) };
    if (namedTool.type === 'function' || traits.customTools) return namedTool;
    losses.approximated('tools.custom');
    return customAsFunction(namedTool);
  });

  const nameOfCall = new Map<string, string>();
  const renamedRequest = mapBlocks({ ...request, tools }, (block) => {
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
      const calledName = block.id === null ? undefined : nameOfCall.get(block.id);
      return {
        ...block,
        name: calledName ?? (block.name === null ? null : names.toUpstream(block.name, undefined)),
        kind: traits.customTools ? block.kind : 'function',
      };
    }
    return block;
  });
  return { ...renamedRequest, toolChoice: renameChoice(request, names) };
}

function renameChoice(
  { toolChoice, tools }: GenerationRequest,
  names: ToolNames,
): ToolChoice | null {
  if (toolChoice?.only == null) return toolChoice;
  const toolsByName = new Map<string, FunctionTool | CustomTool>();
  for (const tool of tools) {
    if (tool.type === 'hosted' || toolsByName.has(tool.name)) continue;
    toolsByName.set(tool.name, tool);
  }
  const only = toolChoice.only.map((name) => {
    const tool = toolsByName.get(name);
    return names.toUpstream(name, tool?.namespace, itemOf(tool));
  });
  return { ...toolChoice, only };
}

function itemOf(tool: Tool | undefined): ClientItem | undefined {
  return tool?.type === 'function' ? tool.item : undefined;
}
