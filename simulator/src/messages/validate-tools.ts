import { isObject, isPresent, stringAt, type JsonObject } from '../json.ts';
import { invalid } from './protocol.ts';

const choices = ['auto', 'any', 'tool', 'none'];

/** Checks tool definitions and the choice between them. @throws Rejection */
export function checkTools(body: JsonObject): void {
  const given = body['tools'];
  if (isPresent(given) && !Array.isArray(given))
    throw invalid('tools: Input should be a valid list');
  const tools = (given ?? []) as unknown[];
  const names = new Set<string>();
  tools.forEach((tool, index) => {
    const name = checkTool(tool, `tools.${index}`);
    if (names.has(name)) throw invalid('tools: Tool names must be unique.');
    names.add(name);
  });
  if (tools.length > 0 && tools.every((tool) => isObject(tool) && tool['defer_loading'] === true)) {
    throw invalid('tools: At least one tool must have defer_loading=false.');
  }
  checkChoice(body['tool_choice'], names);
}

/** Returns the name. Only client tools have a schema. The vendor knows typed and server tools. */
function checkTool(tool: unknown, path: string): string {
  if (!isObject(tool)) throw invalid(`${path}: Input should be an object`);
  const type = stringAt(tool, 'type');
  const { name } = tool;
  if (type !== '' && type !== 'custom') return stringAt(tool, 'name') || `${path}:${type}`;
  if (typeof name !== 'string') throw invalid(`${path}.custom.name: Field required`);
  if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
    throw invalid(`${path}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
  }
  const schema = tool['input_schema'];
  if (!isPresent(schema)) throw invalid(`${path}.custom.input_schema: Field required`);
  if (!isObject(schema)) {
    throw invalid(`${path}.custom.input_schema: Input should be a valid dictionary`);
  }
  if (schema['type'] === undefined) {
    throw invalid(`${path}.custom.input_schema.type: Field required`);
  }
  if (schema['type'] !== 'object') {
    throw invalid(`${path}.custom.input_schema.type: Input should be 'object'`);
  }
  if (['oneOf', 'anyOf', 'allOf'].some((key) => isPresent(schema[key]))) {
    throw invalid(
      `${path}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`,
    );
  }
  if (isOfEarlierDraft(schema)) {
    throw invalid(
      `${path}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12).`,
    );
  }
  return name;
}

/** Keywords whose values are not schemas. */
const data = new Set(['default', 'const', 'enum', 'examples']);

/** Whether any part of it has a keyword in a form that only earlier drafts know. */
function isOfEarlierDraft(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isOfEarlierDraft);
  if (!isObject(value)) return false;
  const { items, required, type, exclusiveMinimum, exclusiveMaximum } = value;
  return (
    Array.isArray(items) ||
    typeof required === 'boolean' ||
    typeof exclusiveMinimum === 'boolean' ||
    typeof exclusiveMaximum === 'boolean' ||
    type === 'any' ||
    Object.entries(value).some(([name, inner]) => !data.has(name) && isOfEarlierDraft(inner))
  );
}

function checkChoice(choice: unknown, names: ReadonlySet<string>): void {
  if (!isPresent(choice)) return;
  const type = stringAt(choice, 'type');
  if (!choices.includes(type)) {
    throw invalid(
      `tool_choice: Input tag '${type}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'`,
    );
  }
  if (names.size === 0 && type !== 'none') {
    throw invalid('tool_choice: tool_choice may only be specified while providing tools');
  }
  const name = stringAt(choice, 'name');
  if (type === 'tool' && name === '') throw invalid('tool_choice.tool.name: Field required');
  if (type === 'tool' && !names.has(name)) {
    throw invalid(`Tool '${name}' not found in provided tools`);
  }
}
