import type { Extensions, FunctionTool, HostedTool, Tool, ToolChoice } from '#canonical/index.ts';
import { quoted, invalid, readRecord, readString } from '../../../shared/text/request-values.ts';
import { isAbsent, type JsonRecord } from '../../../shared/values.ts';
import { ownExtensions, member, otherMembers, readRecords, readStrings } from '../../fields.ts';
import { fromDialect } from '../schema/schema-dialect.ts';

/** Hosted tools, by their names in the request. */
const hostedKinds: ReadonlyMap<string, HostedTool['kind']> = new Map([
  ['googleSearch', 'web-search'],
  ['googleSearchRetrieval', 'web-search'],
  ['enterpriseWebSearch', 'web-search'],
  ['codeExecution', 'code'],
  ['urlContext', 'fetch'],
]);

const declarations: ReadonlySet<string> = new Set(['functionDeclarations']);

/** @throws GatewayError `invalid_value`. */
export function decodeTools(tools: unknown): readonly Tool[] {
  return readRecords(tools, 'tools').flatMap((tool, index) => {
    const param = `tools.${index}.functionDeclarations`;
    if (!isAbsent(member(tool, 'computerUse'))) {
      // The client acts on what the model calls. Which actions there are, and what they take, depends on Gemini's version.
      throw invalid(`tools.${index}.computerUse`, 'is not available with this model');
    }
    const declaredFunctions = readRecords(member(tool, 'functionDeclarations'), param);
    return [
      ...declaredFunctions.map((entry, at) => decodeDeclaration(entry, `${param}.${at}`)),
      ...otherMembers(tool, declarations).map(([name, value]) => hosted(name, value)),
    ];
  });
}

function hosted(name: string, value: unknown): HostedTool {
  const kind = hostedKinds.get(name) ?? 'other';
  return { type: 'hosted', kind, protocol: 'generate-content', name, value: { [name]: value } };
}

const declarationMembers: ReadonlySet<string> = new Set([
  'name',
  'description',
  'parameters',
  'parametersJsonSchema',
]);

/** What the function returns, which only this protocol tells the model. */
const harmless: ReadonlySet<string> = new Set(['response', 'responseJsonSchema']);

function decodeDeclaration(entry: JsonRecord, param: string): FunctionTool {
  const name = readString(member(entry, 'name'), `${param}.name`);
  if (name === null) throw invalid(`${param}.name`, 'is required');
  const json = readRecord(member(entry, 'parametersJsonSchema'), `${param}.parametersJsonSchema`);
  const dialect = readRecord(member(entry, 'parameters'), `${param}.parameters`);
  const others = ownExtensions(otherMembers(entry, declarationMembers), '', (name) =>
    harmless.has(name) ? 'ignore' : 'drop',
  );
  return {
    type: 'function',
    name,
    description: readString(member(entry, 'description'), `${param}.description`),
    schema: json ?? (dialect === null ? null : asObject(fromDialect(dialect))),
    strict: null,
    ...(others.length > 0 ? { extensions: others } : {}),
  };
}

/** Arguments are an object with properties, even if the declaration omits them: other protocols require both. */
function asObject(schema: JsonRecord): JsonRecord {
  const type = schema['type'] ?? 'object';
  if (type !== 'object' || schema['properties'] !== undefined) return schema;
  return { ...schema, type, properties: {} };
}

const modes: Readonly<Record<string, ToolChoice['mode']>> = {
  AUTO: 'auto',
  VALIDATED: 'auto',
  NONE: 'none',
  ANY: 'required',
};

/** The mode that is not said. */
const unspecified = 'MODE_UNSPECIFIED';

const configMembers: ReadonlySet<string> = new Set(['functionCallingConfig']);
const callingMembers: ReadonlySet<string> = new Set(['mode', 'allowedFunctionNames']);

/** @throws GatewayError `invalid_value`. */
export function decodeToolConfig(value: unknown): {
  readonly toolChoice: ToolChoice | null;
  readonly extensions: Extensions;
} {
  const config = readRecord(value, 'toolConfig') ?? {};
  const param = 'toolConfig.functionCallingConfig';
  const calling = readRecord(member(config, 'functionCallingConfig'), param) ?? {};
  const writtenMode = readString(member(calling, 'mode'), `${param}.mode`)?.toUpperCase() ?? null;
  const names = readStrings(
    member(calling, 'allowedFunctionNames'),
    `${param}.allowedFunctionNames`,
  );
  const only = names.length > 0 ? names : null;
  const mode = writtenMode === null ? undefined : modes[writtenMode];
  if (writtenMode !== null && mode === undefined && writtenMode !== unspecified) {
    throw invalid(
      `${param}.mode`,
      `must be AUTO, ANY, NONE or VALIDATED, not ${quoted(writtenMode)}`,
    );
  }
  const others = [
    // Calls are checked against their schemas. In other protocols, this is a property of each tool at most.
    ...(writtenMode === 'VALIDATED' && only === null
      ? ownExtensions([['mode', writtenMode]], `${param}.`)
      : []),
    ...ownExtensions(otherMembers(calling, callingMembers), `${param}.`, () => 'ignore'),
    ...ownExtensions(otherMembers(config, configMembers), 'toolConfig.', handlingOf),
  ];
  const isSaid = mode !== undefined || only !== null;
  return { toolChoice: isSaid ? { mode: mode ?? 'auto', only } : null, extensions: others };
}

function handlingOf(name: string) {
  return name === 'includeServerSideToolInvocations' ? ('ignore' as const) : ('drop' as const);
}
