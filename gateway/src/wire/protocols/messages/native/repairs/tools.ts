import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { modernSchema } from '../../../shared/schema/modern-schema.ts';
import { encodeToolSchema } from '../../../shared/schema/tool-schema.ts';
import { type Draft, gone } from './draft.ts';
import { isOwnTool, namesDefinedLater } from './tool-names.ts';
import { isCall } from './tool-values.ts';
import { invalid } from '../../../shared/text/request-values.ts';

/**
 * Drops repeated identical definitions of a tool. Their cache marker moves to the tool before.
 * @throws GatewayError if two definitions of one name differ.
 */
export function dropRepeatedTools(draft: Draft): boolean {
  const { tools } = draft;
  if (tools === null) return false;
  const first = new Map<unknown, JsonRecord>();
  const keptTools: JsonRecord[] = [];
  for (const [index, tool] of tools.entries()) {
    const { name, cache_control: marker } = tool;
    const earlier = typeof name === 'string' ? first.get(name) : undefined;
    const previous = keptTools.at(-1);
    if (earlier === undefined || previous === undefined) {
      first.set(name, tool);
      keptTools.push(tool);
      continue;
    }
    if (!isDeepStrictEqual(unmarked(earlier), unmarked(tool))) {
      const own = draft.toolNames.get(String(name)) ?? String(name);
      throw invalid(`tools.${index}.name`, `is already the name of another tool: ${own}`);
    }
    if (isRecord(marker) && !isRecord(previous['cache_control'])) {
      keptTools[keptTools.length - 1] = draft.change(previous, { cache_control: marker });
    }
  }
  if (keptTools.length === tools.length) return false;
  draft.tools = keptTools;
  return true;
}

/** A tool without its cache marker, for comparison. */
function unmarked(tool: JsonRecord): JsonRecord {
  return { ...tool, cache_control: null };
}

/** The arguments of the client's own tools must be an object without alternatives at the top. */
export function repairSchemas(draft: Draft): boolean {
  const { tools } = draft;
  if (tools === null) return false;
  const next = draft.mapList(tools, (tool) =>
    isSchemaWrong(tool) ? repairSchema(draft, tool) : tool,
  );
  if (next === tools) return false;
  draft.tools = next;
  return true;
}

/** Tools of other types have no schema, or their own. */
export function isSchemaWrong(tool: JsonRecord): boolean {
  const { input_schema: schema } = tool;
  if (!isOwnTool(tool) || tool['name'] === undefined) return false;
  if (!isRecord(schema)) return true;
  return schema['type'] !== 'object' || hasUnion(schema);
}

/** Schemas of earlier drafts of JSON Schema, as many tool servers write them, are refused. */
export function modernizeSchemas(draft: Draft): boolean {
  const { tools } = draft;
  if (tools === null) return false;
  const next = draft.mapList(tools, (tool) => {
    const modern = modernizedSchema(tool);
    return modern === null ? tool : draft.change(tool, { input_schema: modern });
  });
  if (next === tools) return false;
  draft.tools = next;
  return true;
}

/** The schema of one of the client's own tools in the words of the current draft. Null if it is written in them. */
export function modernizedSchema(tool: JsonRecord): JsonRecord | null {
  const { input_schema: schema } = tool;
  if (!isOwnTool(tool) || !isRecord(schema)) return null;
  const modern = modernSchema(schema, () => {});
  return modern === schema ? null : modern;
}

function hasUnion({ oneOf, anyOf, allOf }: JsonRecord): boolean {
  return oneOf != null || anyOf != null || allOf != null;
}

function repairSchema(draft: Draft, tool: JsonRecord): JsonRecord {
  const schema = tool['input_schema'];
  if (!isRecord(schema)) return draft.change(tool, { input_schema: { type: 'object' } });
  if (!hasUnion(schema) && schema['$ref'] === undefined) {
    return draft.change(tool, { input_schema: draft.change(schema, { type: 'object' }) });
  }
  const mergedSchema = encodeToolSchema(schema, () => {});
  const input_schema = draft.change(schema, {
    oneOf: gone,
    anyOf: gone,
    allOf: gone,
    $ref: gone,
    type: 'object',
    properties: mergedSchema['properties'],
    required: mergedSchema['required'] ?? gone,
  });
  const { description } = tool;
  const note = alternativesOf(schema);
  const newDescription = [...(typeof description === 'string' ? [description] : []), ...note].join(
    '\n\n',
  );
  return draft.change(tool, {
    input_schema,
    ...(note.length > 0 && { description: newDescription }),
  });
}

/** Describes what the schema can no longer express. */
function alternativesOf({ oneOf, anyOf }: JsonRecord): string[] {
  const branches = oneOf ?? anyOf;
  if (!Array.isArray(branches)) return [];
  const forms = (branches as unknown[]).flatMap((branch) =>
    isRecord(branch) && isRecord(branch['properties'])
      ? [Object.keys(branch['properties']).join(', ')]
      : [],
  );
  return forms.length < 2 ? [] : [`Give the arguments of one of: (${forms.join('), (')}).`];
}

/** Some hosts refuse a history with calls of undefined tools. */
export function defineCalledTools(draft: Draft): boolean {
  const { messages, root, context } = draft;
  const { tools } = root;
  if (!context.model.wantsToolsOfHistory || messages === null) return false;
  if (tools !== undefined && tools !== null && !(Array.isArray(tools) && tools.length === 0))
    return false;
  const names = new Set<string>();
  for (const { content } of messages) {
    if (typeof content === 'string') continue;
    for (const block of content) {
      if (isCall(block) && typeof block['name'] === 'string') names.add(block['name']);
    }
  }
  if (names.size === 0) return false;
  draft.set(
    'tools',
    [...names].map((name) => ({ name, input_schema: { type: 'object' } })),
  );
  return true;
}

/** If every tool is deferred, the model can never find one. */
export function loadOneTool(draft: Draft): boolean {
  const { tools } = draft;
  const [first] = tools ?? [];
  if (tools === null || first === undefined) return false;
  if (!tools.every((tool) => tool['defer_loading'] === true)) return false;
  draft.tools = [draft.change(first, { defer_loading: gone }), ...tools.slice(1)];
  return true;
}

/** Drops a choice among no tools. */
export function dropIdleChoice(draft: Draft): boolean {
  if (!isIdleChoice(draft.root) || namesDefinedLater(draft.root).size > 0) return false;
  draft.set('tool_choice', gone);
  return true;
}

const choices: ReadonlySet<unknown> = new Set(['auto', 'any', 'tool']);

function isIdleChoice({ tools, tool_choice: choice, mcp_servers: servers }: JsonRecord): boolean {
  if (!isRecord(choice) || !choices.has(choice['type']) || servers != null) return false;
  return tools === undefined || tools === null || (Array.isArray(tools) && tools.length === 0);
}

/** @throws GatewayError if the required tool is not among the tools. */
export function checkChoice(draft: Draft): boolean {
  const { tools, root } = draft;
  const choice = root['tool_choice'];
  if (tools === null || tools.length === 0 || !isRecord(choice) || choice['type'] !== 'tool')
    return false;
  const { name } = choice;
  // Only the provider knows the names in a set of tools.
  if (typeof name !== 'string' || tools.some((tool) => typeof tool['name'] !== 'string'))
    return false;
  if (tools.some((tool) => tool['name'] === name) || root['mcp_servers'] != null) return false;
  if (namesDefinedLater(root).has(name)) return false;
  throw invalid('tool_choice.name', `names ${name}, which is not among the tools`);
}
