import {
  type FunctionTool,
  type GenerationRequest,
  type Tool,
  Unconvertible,
} from '../../canonical/index.ts';
import { isRecord } from '../values.ts';
import { mark } from './encode-content.ts';
import { applyExtensions, type Losses } from './losses.ts';
import { encodeToolSchema } from './tool-schema.ts';
import type { WireObject } from './wire.ts';

export interface EncodedTools {
  readonly tools: readonly WireObject[];
  readonly choice: WireObject | null;
  /** The model must call something. */
  readonly forced: boolean;
}

type Wishes = Pick<GenerationRequest, 'tools' | 'toolChoice' | 'parallelTools'>;

/** @throws Unconvertible for a choice of a tool that is not there. */
export function encodeTools(wishes: Wishes, losses: Losses): EncodedTools {
  const { toolChoice } = wishes;
  const only = toolChoice?.only ?? null;
  const names = new Set(only);
  const isOne = toolChoice?.mode === 'required' && names.size === 1;
  // Nothing here says "one of these": the others are left out.
  const isSubset = only !== null && !isOne && toolChoice?.mode !== 'none';
  if (isSubset) losses.approximate('tool_choice');
  const sent = wishes.tools.filter((tool) => !isSubset || names.has(tool.name));
  const tools = sent.map((tool) => encodeTool(tool, losses)).filter((tool) => tool !== null);
  const chosen = isOne ? only?.[0] : undefined;
  if (chosen !== undefined && !tools.some(({ name }) => name === chosen)) {
    throw new Unconvertible(
      'tool_choice',
      `tool_choice names ${chosen}, which is not among the tools`,
    );
  }
  const forced = toolChoice?.mode === 'required' && tools.length > 0;
  return { tools, choice: encodeChoice(wishes, tools.length > 0, chosen, losses), forced };
}

/** Null for one that this upstream does not have. */
function encodeTool(tool: Tool, losses: Losses): WireObject | null {
  switch (tool.type) {
    case 'function':
      return encodeFunction(tool, losses);
    case 'custom':
      throw new Unconvertible('tools.custom', 'tools with free text cannot be sent to this model');
    case 'hosted':
      if (tool.protocol === 'messages' && isRecord(tool.value)) return { ...tool.value };
      losses.drop(`tools.${tool.name}`);
      return null;
  }
}

function encodeFunction(tool: FunctionTool, losses: Losses): WireObject {
  const wire: WireObject = { name: tool.name };
  if (tool.description !== null) wire['description'] = tool.description;
  wire['input_schema'] = encodeToolSchema(tool.schema, losses);
  if (tool.strict !== null) wire['strict'] = tool.strict;
  applyExtensions(wire, tool.extensions, losses);
  if (tool.cache !== undefined) mark(wire, tool.cache);
  return wire;
}

function encodeChoice(
  { toolChoice, parallelTools }: Wishes,
  hasTools: boolean,
  chosen: string | undefined,
  losses: Losses,
): WireObject | null {
  if (!hasTools) {
    // Without tools there is nothing to choose from, and upstreams refuse the member.
    if (toolChoice?.mode === 'required') losses.drop('tool_choice');
    return null;
  }
  const mode = toolChoice?.mode ?? 'auto';
  if (mode === 'none') return { type: 'none' };
  const serial = parallelTools === false ? { disable_parallel_tool_use: true } : {};
  if (chosen !== undefined) return { type: 'tool', name: chosen, ...serial };
  if (mode === 'required') return { type: 'any', ...serial };
  return toolChoice === null && parallelTools !== false ? null : { type: 'auto', ...serial };
}
