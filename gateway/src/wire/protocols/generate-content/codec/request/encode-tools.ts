import {
  type FunctionTool,
  type HostedTool,
  type Tool,
  type ToolChoice,
  Unconvertible,
} from '#canonical/index.ts';
import type { Budget } from '#json/index.ts';
import type { EncodeTarget } from '../../../codec.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { hostedWishes } from '../../../shared/tools/hosted-wishes.ts';
import { canBeArguments } from '../../../shared/schema/tool-schema.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import type { EncodeContext, ModelTraits } from './model-traits.ts';
import { restoreExtensions } from '../../fields.ts';
import { toParameters } from '../schema/json-schema.ts';
import { mapSchema } from '../schema/map-schema.ts';

/** @throws Unconvertible if the choice requires an unavailable tool. */
export function encodeTools(
  tools: readonly Tool[],
  choice: ToolChoice | null,
  target: EncodeTarget,
  { losses, model, budget }: EncodeContext,
): JsonRecord[] {
  const declared: JsonRecord[] = [];
  const hosted: JsonRecord[] = [];
  const hasFunctions = tools.some(({ type }) => type === 'function');
  const mayRun = target.capabilities.has('hosted_tools') && (!hasFunctions || model.mixesTools);
  refuseForced(tools, choice);
  for (const tool of tools) {
    if (tool.type === 'function') declared.push(declare(tool, losses, budget, model));
    else if (tool.type === 'custom') {
      throw new Unconvertible('tools.custom', 'tools with free text cannot be sent to this model');
    } else {
      const entry = hostedEntry(tool, mayRun, losses);
      if (entry !== null) hosted.push(entry);
    }
  }
  return declared.length > 0 ? [{ functionDeclarations: declared }, ...hosted] : hosted;
}

function declare(
  tool: FunctionTool,
  losses: Losses,
  budget: Budget,
  model: ModelTraits,
): JsonRecord {
  const { name, description, schema } = tool;
  if (tool.cache !== undefined) losses.dropped('cache');
  if (tool.strict === true) losses.dropped('tool.strict');
  const declaration: Record<string, unknown> = {
    name,
    ...(description === null ? {} : { description }),
  };
  const map = mapSchema(schema ?? {});
  if (map !== null && model.jsonSchema && canBeArguments(map)) {
    declaration['parametersJsonSchema'] = { ...map, type: 'object' };
  } else {
    const { schema: parameters, approximated } = toParameters(schema ?? {}, budget);
    if (approximated || map !== null) losses.approximated('tool.schema');
    if (parameters !== null) declaration['parameters'] = parameters;
  }
  restoreExtensions(declaration, tool.extensions, losses);
  return declaration;
}

/** The same service under this protocol's name. */
const equals: Readonly<Partial<Record<HostedTool['kind'], string>>> = {
  'web-search': 'googleSearch',
  code: 'codeExecution',
  fetch: 'urlContext',
};

function hostedEntry(tool: HostedTool, mayRun: boolean, losses: Losses): JsonRecord | null {
  if (tool.protocol === 'generate-content') return tool.value as JsonRecord;
  const name = equals[tool.kind];
  if (name === undefined || !mayRun) {
    losses.dropped(`tools.${tool.name}`);
    return null;
  }
  losses.approximated(`tools.${tool.name}`);
  hostedWishes(tool, [], losses);
  return { [name]: {} };
}

/** A choice can require functions only. */
function refuseForced(tools: readonly Tool[], choice: ToolChoice | null): void {
  if (choice?.mode !== 'required') return;
  const only = new Set(choice.only ?? tools.map(({ name }) => name));
  const wantedTools = tools.filter(({ name }) => only.has(name));
  const [first] = wantedTools;
  if (first === undefined || wantedTools.some(({ type }) => type === 'function')) return;
  throw new Unconvertible(
    'tool_choice',
    `a call of the tool '${first.name}' cannot be required with this model`,
  );
}

const modes: Readonly<Record<ToolChoice['mode'], string>> = {
  auto: 'AUTO',
  none: 'NONE',
  required: 'ANY',
};

/**
 * Null if the model chooses freely, or there are no tools.
 * @param traces ask for a trace of the calls that the provider runs. Then calls are always checked against their schemas.
 */
export function encodeToolConfig(
  choice: ToolChoice | null,
  tools: readonly Tool[],
  traces: boolean,
): JsonRecord | null {
  const config = encodeChoice(choice, tools);
  if (!traces) return config;
  const calling = config?.['functionCallingConfig'] as JsonRecord | undefined;
  const isFree = calling === undefined || calling['mode'] === 'AUTO';
  return {
    functionCallingConfig: isFree ? { ...calling, mode: 'VALIDATED' } : calling,
    includeServerSideToolInvocations: true,
  };
}

function encodeChoice(choice: ToolChoice | null, tools: readonly Tool[]): JsonRecord | null {
  if (choice === null || !tools.some(({ type }) => type === 'function')) return null;
  if (choice.only === null || choice.mode === 'none') {
    return { functionCallingConfig: { mode: modes[choice.mode] } };
  }
  // Among the modes that leave the model free, only this one accepts names.
  const mode = choice.mode === 'auto' ? 'VALIDATED' : 'ANY';
  const hosted = new Set(tools.filter(({ type }) => type === 'hosted').map(({ name }) => name));
  const allowedFunctionNames = choice.only.filter((name) => !hosted.has(name));
  const unknown = allowedFunctionNames.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown !== undefined && mode === 'ANY') {
    throw new Unconvertible(
      'tool_choice',
      `tool_choice names ${unknown}, which is not among the tools`,
    );
  }
  if (allowedFunctionNames.length === 0) return { functionCallingConfig: { mode: 'NONE' } };
  return { functionCallingConfig: { mode, allowedFunctionNames } };
}
