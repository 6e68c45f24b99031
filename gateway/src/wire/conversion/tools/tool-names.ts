import type {
  ClientItem,
  FunctionTool,
  CustomTool,
  GenerationRequest,
  Tool,
  ToolCallBlock,
} from '#canonical/index.ts';
import { type CodecTraits, planToolNames } from '#protocols/index.ts';

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
