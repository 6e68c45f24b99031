import type { Extension, FunctionTool, HostedTool, Tool } from '#canonical/index.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../../shared/values.ts';
import { clientRunTool } from '../../client-run/tools.ts';
import { ownExtension } from './request-extensions.ts';
import { invalid, readList, requireString } from '../../../shared/text/request-values.ts';
import { withExtensions } from '../../../shared/text/openai-members.ts';

/** The extension with a namespace's description, on its first tool. */
export const namespaceDescription = 'namespace.description';

const functionMembers = new Set(['type', 'name', 'description', 'parameters', 'strict']);

const customMembers = new Set(['type', 'name', 'description', 'format']);

/** @throws GatewayError `invalid_value`. */
export function decodeTools(tools: readonly unknown[], param: string, namespace?: string): Tool[] {
  return tools.flatMap((tool, index) => decodeTool(tool, `${param}.${index}`, namespace));
}

function decodeTool(tool: unknown, param: string, namespace?: string): Tool[] {
  if (!isRecord(tool)) throw invalid(param, 'must be an object');
  switch (requireString(tool['type'], `${param}.type`)) {
    case 'function':
      return [decodeFunction(tool, param, namespace)];
    case 'custom':
      return [decodeCustom(tool, param, namespace)];
    case 'namespace':
      return decodeNamespace(tool, param);
    default:
      return [clientRunTool(tool) ?? decodeHosted(tool)];
  }
}

function decodeFunction(tool: JsonRecord, param: string, namespace?: string): FunctionTool {
  const { description, parameters, strict } = tool;
  if (!isAbsent(parameters) && !isRecord(parameters)) {
    throw invalid(`${param}.parameters`, 'must be an object');
  }
  return {
    type: 'function',
    name: requireString(tool['name'], `${param}.name`),
    ...(namespace !== undefined && { namespace }),
    description: typeof description === 'string' ? description : null,
    schema: isRecord(parameters) ? parameters : null,
    strict: typeof strict === 'boolean' ? strict : null,
    ...withExtensions(toolExtensions(tool, functionMembers)),
  };
}

/** Other members of a tool: whether it is found by search only, who may call it, what it returns. */
function toolExtensions(tool: JsonRecord, knownMembers: ReadonlySet<string>): Extension[] {
  return Object.entries(tool)
    .filter(([name, value]) => !knownMembers.has(name) && !isAbsent(value))
    .map(([name, value]) => ownExtension(`tool.${name}`, value, saysNothing(value)));
}

/** False is the default of every tool. */
function saysNothing(value: unknown): Extension['ifForeign'] {
  return value === false || (Array.isArray(value) && value.length === 0) ? 'ignore' : 'drop';
}

function decodeCustom(tool: JsonRecord, param: string, namespace?: string): Tool {
  const { description, format } = tool;
  const grammar = isRecord(format) && format['type'] === 'grammar' ? format : null;
  return {
    type: 'custom',
    name: requireString(tool['name'], `${param}.name`),
    ...(namespace !== undefined && { namespace }),
    description: typeof description === 'string' ? description : null,
    grammar: grammar && {
      syntax: requireString(grammar['syntax'], `${param}.format.syntax`),
      definition: requireString(grammar['definition'], `${param}.format.definition`),
    },
    ...withExtensions(toolExtensions(tool, customMembers)),
  };
}

function decodeNamespace(tool: JsonRecord, param: string): Tool[] {
  const name = requireString(tool['name'], `${param}.name`);
  const tools = decodeTools(readList(tool['tools'], `${param}.tools`), `${param}.tools`, name);
  const { description } = tool;
  const first = tools.find((inner) => inner.type !== 'hosted');
  if (first === undefined || typeof description !== 'string' || description === '') return tools;
  const extension = ownExtension(namespaceDescription, description, 'drop');
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
