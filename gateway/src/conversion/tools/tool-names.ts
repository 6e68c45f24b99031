import type {
  FunctionTool,
  CustomTool,
  GenerationRequest,
  Tool,
  ToolCallBlock,
} from '../../canonical/index.ts';
import type { CodecTraits } from '../../protocols/index.ts';
import { digest } from '../digest.ts';

/** A tool as the client knows it. */
export interface ClientTool {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly kind: 'function' | 'custom';
}

/** What the client's tools are called upstream, and back. */
export interface ToolNames {
  toUpstream(name: string, namespace: string | undefined): string;
  /** A name that no tool has (models invent some) stays what it is; null then. */
  toClient(name: string): ClientTool | null;
}

type Traits = Pick<CodecTraits, 'toolName' | 'toolNameLength' | 'toolNamespaces'>;

/**
 * Names that the upstream takes. A good name stays; a bad one is cleaned, cut and gets a suffix made from the
 * original, so that it is the same whatever other tools there are. Namespaces become part of the name.
 */
export function planToolNames(request: GenerationRequest, traits: Traits): ToolNames {
  const upstream = new Map<string, string>();
  const client = new Map<string, ClientTool>();
  const tools = [...clientTools(request)];
  const kept = new Set<string>();
  for (const tool of tools) {
    const wished = wishedName(tool, traits);
    if (wished === tool.name && isAccepted(wished, traits)) kept.add(wished);
  }
  for (const tool of tools) {
    const key = keyOf(tool.name, tool.namespace);
    if (upstream.has(key)) continue;
    const wished = wishedName(tool, traits);
    const isFree = wished === tool.name || !kept.has(wished);
    const name =
      isAccepted(wished, traits) && isFree && !client.has(wished)
        ? wished
        : renamed(wished, key, traits, (candidate) => kept.has(candidate) || client.has(candidate));
    upstream.set(key, name);
    client.set(name, tool);
  }
  return {
    toUpstream: (name, namespace) =>
      upstream.get(keyOf(name, namespace)) ?? upstream.get(keyOf(name, undefined)) ?? name,
    toClient: (name) => client.get(name) ?? null,
  };
}

/** Definitions first: history may name tools that are gone, and with another kind. */
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
  { name, namespace }: Pick<ToolCallBlock, 'name' | 'namespace'>,
  kind: ClientTool['kind'],
): ClientTool {
  return { name, namespace, kind };
}

function keyOf(name: string, namespace: string | undefined): string {
  return namespace === undefined ? name : JSON.stringify([namespace, name]);
}

function wishedName({ name, namespace }: ClientTool, traits: Traits): string {
  return namespace === undefined || traits.toolNamespaces ? name : `${namespace}__${name}`;
}

function isAccepted(name: string, traits: Traits): boolean {
  return name.length <= traits.toolNameLength && traits.toolName.test(name);
}

function renamed(
  name: string,
  key: string,
  traits: Traits,
  isTaken: (candidate: string) => boolean,
): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_');
  const clean = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  for (let digits = 6; ; digits += 2) {
    const suffix = `_${digest(digits, key)}`;
    const candidate = clean.slice(0, traits.toolNameLength - suffix.length) + suffix;
    if (!isTaken(candidate)) return candidate;
  }
}
