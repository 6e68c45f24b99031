import {
  type FunctionTool,
  type GenerationRequest,
  type HostedTool,
  type Tool,
  Unconvertible,
} from '#canonical/index.ts';
import type { Budget } from '#json/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { isRecord } from '../../../shared/values.ts';
import { setCacheControl } from './encode-content.ts';
import { applyExtensions } from './extensions.ts';
import { hostedWishes } from '../../../shared/tools/hosted-wishes.ts';
import { encodeToolSchema } from '../../../shared/schema/tool-schema.ts';
import { encodeOutputSchema, type SchemaFault } from '../schema/output-schema.ts';
import type { WireObject } from '../../wire.ts';
import {
  mostOptional,
  mostStrictTools,
  mostUnions,
  type SchemaCost,
} from '../schema/output-keywords.ts';

export interface EncodedTools {
  readonly tools: readonly WireObject[];
  readonly choice: WireObject | null;
  /** The choice requires a call. */
  readonly forced: boolean;
}

type Wishes = Pick<GenerationRequest, 'tools' | 'toolChoice' | 'parallelTools'>;

export interface ToolsContext {
  readonly losses: Losses;
  /** The request's. */
  readonly budget: Budget;
  /** What the response format left of the limits for strict schemas. */
  readonly room: StrictRoom;
  /** The upstream runs hosted tools, which can replace those of another provider. */
  readonly hosts: boolean;
}

/** @throws Unconvertible for a choice of a missing tool; GatewayError `too_complex`. */
export function encodeTools(wishes: Wishes, context: ToolsContext): EncodedTools {
  const { losses, hosts } = context;
  const { toolChoice } = wishes;
  const only = toolChoice?.only ?? null;
  const names = new Set(only);
  const isOne = toolChoice?.mode === 'required' && names.size === 1;
  // The protocol cannot express a choice among some tools, so only those are sent.
  const isSubset = only !== null && !isOne && toolChoice?.mode !== 'none';
  if (isSubset) losses.approximated('tool_choice');
  const sentTools = wishes.tools.filter((tool) => !isSubset || names.has(tool.name));
  const takenNames = new Set(wishes.tools.filter(({ type }) => type !== 'hosted').map(nameOf));
  const own = (tool: Tool) => (hosts ? equivalentOf(tool, takenNames) : null);
  const encoded = sentTools.map((tool) => encodeTool(tool, context, own(tool)));
  const tools = distinct(encoded.filter((tool) => tool !== null));
  const wished = isOne ? only?.[0] : undefined;
  const stand = wishes.tools.find((tool) => tool.name === wished);
  const chosenName = stand === undefined ? wished : (own(stand)?.name ?? wished);
  if (chosenName !== undefined && !tools.some(({ name }) => name === chosenName)) {
    throw new Unconvertible(
      'tool_choice',
      `tool_choice names ${wished}, which is not among the tools`,
    );
  }
  const forced = toolChoice?.mode === 'required' && tools.length > 0;
  return { tools, choice: encodeChoice(wishes, tools.length > 0, chosenName, losses), forced };
}

/** Null for a tool that this upstream does not have. */
function encodeTool(tool: Tool, context: ToolsContext, own: HostedEntry | null): WireObject | null {
  const { losses } = context;
  switch (tool.type) {
    case 'function':
      return tool.typed?.protocol === 'messages'
        ? { ...tool.typed.value }
        : encodeFunction(tool, context);
    case 'custom':
      throw new Unconvertible('tools.custom', 'tools with free text cannot be sent to this model');
    case 'hosted':
      if (tool.protocol === 'messages' && isRecord(tool.value)) return { ...tool.value };
      if (own === null) {
        losses.dropped(`tools.${tool.name}`);
        return null;
      }
      losses.approximated(`tools.${tool.name}`);
      return { ...own, ...encodeWishes(tool, losses) };
  }
}

function encodeWishes(tool: HostedTool, losses: Losses): WireObject {
  const takes = ['allowed_domains', 'blocked_domains', 'user_location', 'max_uses'] as const;
  const { user_location: location, ...wishes } = hostedWishes(tool, takes, losses);
  return {
    ...wishes,
    ...(location !== undefined && { user_location: { type: 'approximate', ...location } }),
  };
}

interface HostedEntry {
  readonly type: string;
  readonly name: string;
}

/** The same service under this protocol's name, in the version that needs no beta. */
const equivalents: Readonly<Partial<Record<HostedTool['kind'], HostedEntry>>> = {
  'web-search': { type: 'web_search_20250305', name: 'web_search' },
  fetch: { type: 'web_fetch_20250910', name: 'web_fetch' },
  code: { type: 'code_execution_20250825', name: 'code_execution' },
};

/** Null for a function, for a tool without an equivalent, and if a function of the client has the name. */
function equivalentOf(tool: Tool, takenNames: ReadonlySet<string>): HostedEntry | null {
  if (tool.type !== 'hosted' || tool.protocol === 'messages') return null;
  const entry = equivalents[tool.kind];
  return entry === undefined || takenNames.has(entry.name) ? null : entry;
}

/** Drops repetitions: two tools of one kind become the same tool. */
function distinct(tools: readonly WireObject[]): WireObject[] {
  const names = new Set<unknown>();
  return tools.filter(({ name }) => {
    if (name !== undefined && names.has(name)) return false;
    names.add(name);
    return true;
  });
}

const nameOf = ({ name }: Tool): string => name;

function encodeFunction(tool: FunctionTool, context: ToolsContext): WireObject {
  const { losses } = context;
  const wire: WireObject = { name: tool.name };
  if (tool.description !== null) wire['description'] = tool.description;
  Object.assign(wire, encodeArguments(tool, context));
  applyExtensions(wire, tool.extensions, losses);
  if (tool.cache !== undefined) setCacheControl(wire, tool.cache);
  return wire;
}

/**
 * A strict tool follows the same rules as a response with a schema. One that these rules have no words for, or that exceeds
 * a limit of the request, is not strict: its arguments are the same, and the model is not held to them.
 */
function encodeArguments(
  { schema, strict }: FunctionTool,
  { losses, budget, room }: ToolsContext,
): WireObject {
  const onChange = (): void => losses.approximated('tool.schema');
  const object = encodeToolSchema(schema, onChange);
  if (strict !== true) return { input_schema: object, ...(strict !== null && { strict }) };
  const heldSchema = encodeOutputSchema(object, budget);
  if (!('schema' in heldSchema) || !room.takeTool(heldSchema.cost)) {
    losses.approximated('tool.strict');
    return { input_schema: object, strict: false };
  }
  if (heldSchema.changed) onChange();
  return { input_schema: heldSchema.schema, strict };
}

function encodeChoice(
  { toolChoice, parallelTools }: Wishes,
  hasTools: boolean,
  chosenName: string | undefined,
  losses: Losses,
): WireObject | null {
  if (!hasTools) {
    // Upstreams refuse a choice without tools.
    if (toolChoice?.mode === 'required') losses.dropped('tool_choice');
    return null;
  }
  const mode = toolChoice?.mode ?? 'auto';
  if (mode === 'none') return { type: 'none' };
  const serial = parallelTools === false ? { disable_parallel_tool_use: true } : {};
  if (chosenName !== undefined) return { type: 'tool', name: chosenName, ...serial };
  if (mode === 'required') return { type: 'any', ...serial };
  return toolChoice === null && parallelTools !== false ? null : { type: 'auto', ...serial };
}

/** What the limits of one request still have room for. */
export class StrictRoom {
  #tools = mostStrictTools;
  #optional = mostOptional;
  #unions = mostUnions;

  /** Takes the room of the response format. Returns why there is none; null if there is. */
  takeFormat({ optional, unions }: SchemaCost): SchemaFault | null {
    this.#optional -= optional;
    this.#unions -= unions;
    if (this.#unions < 0) return tooMany(unions, 'unions', mostUnions);
    return this.#optional < 0 ? tooMany(optional, 'optional properties', mostOptional) : null;
  }

  /** Takes the room of a strict tool, if there is any. */
  takeTool({ optional, unions }: SchemaCost): boolean {
    if (this.#tools < 1 || this.#optional < optional || this.#unions < unions) return false;
    this.#tools -= 1;
    this.#optional -= optional;
    this.#unions -= unions;
    return true;
  }
}

function tooMany(count: number, things: string, most: number): SchemaFault {
  return { path: '', reason: `has ${count} ${things}, of which ${most} are possible` };
}
