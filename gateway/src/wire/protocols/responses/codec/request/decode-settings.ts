import type { Extension, OutputFormat, ReasoningRequest, ToolChoice } from '#canonical/index.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../../shared/values.ts';
import { ownExtension } from './request-extensions.ts';
import {
  invalid,
  readList,
  readNumber,
  readRecord,
  requireString,
} from '../../../shared/text/request-values.ts';

/** Adds an extension for what has no place in the canonical value. */
type Keep = (extension: Extension) => void;

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** @throws GatewayError `invalid_value`. */
export function decodeReasoningRequest(value: unknown, keep: Keep): ReasoningRequest | null {
  const reasoning = readRecord(value, 'reasoning') ?? {};
  const { effort: wish, summary: newName, generate_summary: oldName, ...rest } = reasoning;
  for (const [name, other] of Object.entries(rest)) {
    if (!isAbsent(other)) keep(ownExtension(`reasoning.${name}`, other, 'drop'));
  }
  const effort = efforts.find((effortName) => effortName === wish) ?? null;
  if (effort === null && !isAbsent(wish)) keep(ownExtension('reasoning.effort', wish, 'drop'));
  const summary = newName ?? oldName;
  const show = isAbsent(summary) ? null : true;
  if (show && summary !== 'auto') keep(ownExtension('reasoning.summary', summary, 'ignore'));
  if (effort === null && show === null) return null;
  return { mode: effort === 'none' ? 'off' : 'on', effort, budget: null, show };
}

/** @throws GatewayError `invalid_value`. */
export function decodeFormat(text: JsonRecord): OutputFormat | null {
  const { format } = text;
  if (isAbsent(format)) return null;
  if (!isRecord(format)) throw invalid('text.format', 'must be an object');
  switch (format['type']) {
    case 'text':
      return { type: 'text' };
    case 'json_object':
      return { type: 'json' };
    case 'json_schema': {
      const { name, description, schema, strict } = format;
      if (!isRecord(schema)) throw invalid('text.format.schema', 'must be an object');
      return {
        type: 'schema',
        name: typeof name === 'string' ? name : null,
        description: typeof description === 'string' ? description : null,
        schema,
        strict: typeof strict === 'boolean' ? strict : null,
      };
    }
    default:
      throw invalid('text.format.type', 'must be text, json_object or json_schema');
  }
}

/** Requests log probabilities. The number of alternatives alone requests none. */
export const logprobsInclude = 'message.output_text.logprobs';

/** The number of alternatives per token; null if none are requested. `include` keeps its other values. */
export function decodeLogprobsRequest(json: JsonRecord, keep: Keep): number | null {
  const include = readList(json['include'], 'include');
  const rest = include.filter((entry) => entry !== logprobsInclude);
  if (rest.length > 0) keep(ownExtension('include', rest, 'ignore'));
  const top = json['top_logprobs'];
  if (rest.length < include.length) return readNumber(top, 'top_logprobs') ?? 0;
  if (!isAbsent(top)) keep(ownExtension('top_logprobs', top, 'ignore'));
  return null;
}

/** @throws GatewayError `invalid_value`. */
export function decodeToolChoice(choice: unknown, keep: Keep): ToolChoice | null {
  if (isAbsent(choice)) return null;
  if (choice === 'auto' || choice === 'none' || choice === 'required') {
    return { mode: choice, only: null };
  }
  if (!isRecord(choice)) throw invalid('tool_choice', 'must be auto, none, required or an object');
  const type = requireString(choice['type'], 'tool_choice.type');
  if (type === 'function' || type === 'custom') {
    return { mode: 'required', only: [requireString(choice['name'], 'tool_choice.name')] };
  }
  if (type === 'allowed_tools') return decodeAllowed(choice, keep);
  // As Cursor writes them.
  if (type === 'auto' || type === 'none' || type === 'required') return { mode: type, only: null };
  // A hosted tool goes by its type. Only this protocol has more names for it.
  if (Object.keys(choice).length > 1) keep(ownExtension('tool_choice', choice, 'ignore'));
  return { mode: 'required', only: [type] };
}

function decodeAllowed(choice: JsonRecord, keep: Keep): ToolChoice {
  const tools = readList(choice['tools'], 'tool_choice.tools');
  const only = tools.map((tool, index) => {
    if (!isRecord(tool)) throw invalid(`tool_choice.tools.${index}`, 'must be an object');
    return String(tool['name'] ?? tool['type']);
  });
  const isPlain = tools.every((tool) => isRecord(tool) && Object.keys(tool).length <= 2);
  if (!isPlain) keep(ownExtension('tool_choice', choice, 'ignore'));
  return { mode: choice['mode'] === 'required' ? 'required' : 'auto', only };
}
