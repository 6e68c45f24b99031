import type { Extension, FunctionTool, HostedTool, Tool } from '../../canonical/index.ts';
import { isAbsent, isRecord, type JsonRecord } from '../values.ts';
import { invalid, readList, readString } from './invalid.ts';
import { ownExtension, withExtensions } from './own-extension.ts';

/** The description of a namespace, kept with its first tool. */
export const namespaceDescription = 'namespace.description';

const functionMembers = new Set(['type', 'name', 'description', 'parameters', 'strict']);

/** Members that only matter where the provider searches among tools, or writes programs that call them. */
const harmless = new Set(['defer_loading', 'output_schema', 'allowed_callers']);

/** @throws GatewayError `invalid_value`. */
export function decodeTools(tools: readonly unknown[], param: string, namespace?: string): Tool[] {
  return tools.flatMap((tool, index) => decodeTool(tool, `${param}.${index}`, namespace));
}

function decodeTool(tool: unknown, param: string, namespace?: string): Tool[] {
  if (!isRecord(tool)) throw invalid(param, 'must be an object');
  switch (readString(tool['type'], `${param}.type`)) {
    case 'function':
      return [decodeFunction(tool, param, namespace)];
    case 'custom':
      return [decodeCustom(tool, param, namespace)];
    case 'namespace':
      return decodeNamespace(tool, param);
    default:
      return [decodeHosted(tool)];
  }
}

function decodeFunction(tool: JsonRecord, param: string, namespace?: string): FunctionTool {
  const { description, parameters, strict } = tool;
  if (!isAbsent(parameters) && !isRecord(parameters)) {
    throw invalid(`${param}.parameters`, 'must be an object');
  }
  const extensions: Extension[] = Object.entries(tool)
    .filter(([name, value]) => !functionMembers.has(name) && !isAbsent(value))
    .map(([name, value]) =>
      ownExtension(`tool.${name}`, value, harmless.has(name) ? 'ignore' : 'drop'),
    );
  return {
    type: 'function',
    name: readString(tool['name'], `${param}.name`),
    ...(namespace !== undefined && { namespace }),
    description: typeof description === 'string' ? description : null,
    schema: isRecord(parameters) ? parameters : null,
    strict: typeof strict === 'boolean' ? strict : null,
    ...withExtensions(extensions),
  };
}

function decodeCustom(tool: JsonRecord, param: string, namespace?: string): Tool {
  const { description, format } = tool;
  const grammar = isRecord(format) && format['type'] === 'grammar' ? format : null;
  return {
    type: 'custom',
    name: readString(tool['name'], `${param}.name`),
    ...(namespace !== undefined && { namespace }),
    description: typeof description === 'string' ? description : null,
    grammar: grammar && {
      syntax: readString(grammar['syntax'], `${param}.format.syntax`),
      definition: readString(grammar['definition'], `${param}.format.definition`),
    },
  };
}

function decodeNamespace(tool: JsonRecord, param: string): Tool[] {
  const name = readString(tool['name'], `${param}.name`);
  const tools = decodeTools(readList(tool['tools'], `${param}.tools`), `${param}.tools`, name);
  const { description } = tool;
  const first = tools.find((inner) => inner.type === 'function');
  if (first === undefined || typeof description !== 'string' || description === '') return tools;
  const extension = ownExtension(namespaceDescription, description, 'ignore');
  return tools.map((inner) =>
    inner === first ? { ...first, extensions: [...(first.extensions ?? []), extension] } : inner,
  );
}

function decodeHosted(tool: JsonRecord): HostedTool {
  const name = String(tool['type']);
  return { type: 'hosted', kind: hostedKind(name), protocol: 'responses', name, value: tool };
}

function hostedKind(type: string): HostedTool['kind'] {
  if (type.startsWith('web_search')) return 'web-search';
  if (type === 'code_interpreter') return 'code';
  if (type === 'image_generation') return 'image';
  return 'other';
}
