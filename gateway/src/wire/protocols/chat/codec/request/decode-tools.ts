import type {
  CustomTool,
  Extension,
  FunctionTool,
  HostedTool,
  Tool,
  ToolChoice,
} from '#canonical/index.ts';
import { quoted, invalid, readList, requireRecord } from '../../../shared/text/request-values.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { leftovers, readCache } from './request-fields.ts';
import { withExtensions } from '../../../shared/text/openai-members.ts';

/**
 * Reads `tools`, the legacy `functions`, and the web search, which chat requests beside the tools.
 * @throws GatewayError `invalid_value`
 */
export function decodeTools(json: JsonRecord): Tool[] {
  const tools = readList(json['tools'], 'tools').map((value, index) =>
    decodeTool(requireRecord(value, `tools.${index}`), `tools.${index}`),
  );
  if (isAbsent(json['tools'])) {
    readList(json['functions'], 'functions').forEach((value, index) => {
      const param = `functions.${index}`;
      tools.push(decodeFunction(requireRecord(value, param), param, {}));
    });
  }
  const search = json['web_search_options'];
  if (isRecord(search)) tools.push(hosted('web-search', 'web_search_options', search));
  return tools;
}

function decodeTool(tool: JsonRecord, param: string): Tool {
  const { type } = tool;
  if (isFlat(tool)) return decodeFlat(tool, param);
  if (type === 'custom')
    return decodeCustom(requireRecord(tool['custom'], `${param}.custom`), param, tool);
  // Some clients omit the type.
  if (type === 'function' || (isAbsent(type) && isRecord(tool['function']))) {
    const definition = requireRecord(tool['function'], `${param}.function`);
    return decodeFunction(definition, `${param}.function`, tool);
  }
  if (typeof type !== 'string') throw invalid(`${param}.type`, 'is required');
  return hosted(type.includes('web_search') ? 'web-search' : 'other', type, tool);
}

/** Whether the name stands beside the type, as in responses, or beside a schema, as in messages. Cursor sends both. */
function isFlat({
  type,
  name,
  function: functionPart,
  custom,
  input_schema: schema,
}: JsonRecord): boolean {
  if (typeof name !== 'string' || isRecord(functionPart) || isRecord(custom)) return false;
  return type === 'function' || type === 'custom' || (isAbsent(type) && isRecord(schema));
}

function decodeFlat(tool: JsonRecord, param: string): Tool {
  const { type = 'function', cache_control, input_schema, ...definition } = tool;
  const entry = { type, ...(cache_control !== undefined && { cache_control }) };
  if (type === 'custom') return decodeCustom(definition, param, entry);
  const { parameters = input_schema } = definition;
  return decodeFunction({ ...definition, parameters }, param, entry);
}

function hosted(kind: HostedTool['kind'], name: string, value: unknown): HostedTool {
  return { type: 'hosted', kind, protocol: 'chat', name, value };
}

const functionMembers = new Set(['name', 'description', 'parameters', 'strict']);
const entryMembers = new Set(['type', 'function', 'cache_control', 'prompt_cache_breakpoint']);

/** Distinguishes members of the entry from members of the function inside it. */
export const entryPrefix = 'tool.';

function decodeFunction(definition: JsonRecord, param: string, entry: JsonRecord): FunctionTool {
  const { description, parameters, strict } = definition;
  if (!isAbsent(parameters) && !isRecord(parameters)) {
    throw invalid(`${param}.parameters`, 'must be an object');
  }
  return {
    type: 'function',
    name: readName(definition, param),
    description: typeof description === 'string' ? description : null,
    schema: isRecord(parameters) ? parameters : null,
    strict: typeof strict === 'boolean' ? strict : null,
    ...readCache(entry),
    ...withExtensions([
      ...leftovers(definition, functionMembers),
      ...aroundTool(entry, entryMembers),
    ]),
  };
}

function aroundTool(entry: JsonRecord, knownMembers: ReadonlySet<string>): Extension[] {
  return leftovers(entry, knownMembers).map((extension) => ({
    ...extension,
    name: `${entryPrefix}${extension.name}`,
  }));
}

const customMembers = new Set(['name', 'description', 'format']);
const customEntryMembers = new Set(['type', 'custom']);

function decodeCustom(definition: JsonRecord, param: string, entry: JsonRecord): CustomTool {
  const { description } = definition;
  const format = recordAt(definition, 'format');
  // Chat nests the choice. The flat form is a common slip: it belongs to the other OpenAI protocol.
  const { syntax, definition: rules } = isRecord(format['grammar']) ? format['grammar'] : format;
  const isGrammar = typeof syntax === 'string' && typeof rules === 'string';
  return {
    type: 'custom',
    name: readName(definition, `${param}.custom`),
    description: typeof description === 'string' ? description : null,
    grammar: isGrammar ? { syntax, definition: rules } : null,
    ...withExtensions([
      ...leftovers(definition, customMembers),
      ...aroundTool(entry, customEntryMembers),
    ]),
  };
}

function readName(definition: JsonRecord, param: string): string {
  const { name } = definition;
  if (typeof name === 'string' && name !== '') return name;
  throw invalid(`${param}.name`, 'is required');
}

/**
 * Reads `tool_choice` and the legacy `function_call`.
 * @throws GatewayError `invalid_value`
 */
export function decodeToolChoice(json: JsonRecord): ToolChoice | null {
  const param = isAbsent(json['tool_choice']) ? 'function_call' : 'tool_choice';
  const choice = json[param];
  if (isAbsent(choice)) return null;
  if (typeof choice === 'string') {
    const mode = modes.get(choice);
    if (mode !== undefined) return { mode, only: null };
  } else if (isRecord(choice)) {
    const { type } = choice;
    if (type === 'allowed_tools') return decodeAllowed(choice, param);
    const mode = typeof type === 'string' ? modes.get(type) : undefined;
    if (mode !== undefined) return { mode, only: null };
    if (!isAbsent(type) && !choosing.has(type)) {
      throw invalid(
        `${param}.type`,
        `must be function, custom or allowed_tools, not ${quoted(type)}`,
      );
    }
    const name = chosenName(choice);
    if (name !== null) return { mode: 'required', only: [name] };
  }
  throw invalid(param, 'must be none, auto, required, or name a tool');
}

/** `any` is Mistral's name for `required`. */
const modes: ReadonlyMap<string, ToolChoice['mode']> = new Map([
  ['none', 'none'],
  ['auto', 'auto'],
  ['required', 'required'],
  ['any', 'required'],
]);

/** Types of a choice of one tool; the last is that of messages. */
const choosing: ReadonlySet<unknown> = new Set(['function', 'custom', 'tool']);

function decodeAllowed(choice: JsonRecord, param: string): ToolChoice {
  const allowed = isRecord(choice['allowed_tools']) ? choice['allowed_tools'] : choice;
  const only = readList(allowed['tools'], `${param}.allowed_tools.tools`).map((tool, index) => {
    const name = isRecord(tool) ? chosenName(tool) : null;
    if (name !== null) return name;
    throw invalid(`${param}.allowed_tools.tools.${index}`, 'must name a tool');
  });
  return { mode: allowed['mode'] === 'required' ? 'required' : 'auto', only };
}

function chosenName(choice: JsonRecord): string | null {
  for (const holder of [choice['function'], choice['custom'], choice]) {
    if (isRecord(holder) && typeof holder['name'] === 'string') return holder['name'];
  }
  return null;
}
