import {
  type GenerationRequest,
  type Extension,
  type OutputFormat,
  reasoningEfforts,
  type ReasoningEffort as Effort,
  type ReasoningRequest,
} from '#canonical/index.ts';
import type { WireRequest } from '../../../protocol.ts';
import { isAbsent, type JsonRecord, recordAt, isRecord } from '../../../shared/values.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { declaresLegacy, legacyExtension } from '../tool-calls.ts';
import { readBoolean, leftovers } from './request-fields.ts';
import {
  invalid,
  readList,
  readNumber,
  readString,
  requireRecord,
} from '../../../shared/text/request-values.ts';

/** @throws GatewayError as `Codec.decodeRequest` says. */
export function decodeRequest(request: WireRequest): GenerationRequest {
  const { json } = request;
  const { format, extensions } = decodeFormat(json);
  const { reasoning, members } = decodeReasoningRequest(json);
  return {
    model: request.model,
    stream: request.stream,
    ...decodeMessages(json['messages']),
    tools: decodeTools(json),
    toolChoice: decodeToolChoice(json),
    // The legacy form has room for one call.
    parallelTools: declaresLegacy(json) ? false : readBoolean(json, 'parallel_tool_calls'),
    // The newer name wins. `WireRequest` has the larger of both, to bound the cost.
    maxOutputTokens:
      readNumber(json['max_completion_tokens'], 'max_completion_tokens') ??
      readNumber(json['max_tokens'], 'max_tokens'),
    temperature: readNumber(json['temperature'], 'temperature'),
    topP: readNumber(json['top_p'], 'top_p'),
    topK: readNumber(json['top_k'], 'top_k'),
    presencePenalty: readNumber(json['presence_penalty'], 'presence_penalty'),
    frequencyPenalty: readNumber(json['frequency_penalty'], 'frequency_penalty'),
    seed: decodeSeed(json),
    stop: decodeStop(json['stop']),
    choices: request.choices,
    format,
    verbosity: readString(json['verbosity'], 'verbosity'),
    reasoning,
    logprobs: decodeLogprobs(json),
    cacheKey: readString(json['prompt_cache_key'], 'prompt_cache_key'),
    endUser:
      readString(json['safety_identifier'], 'safety_identifier') ??
      readString(json['user'], 'user'),
    wantsUsage: recordAt(json, 'stream_options')['include_usage'] === true,
    extensions: [...extensions, ...legacyExtension(json), ...topLevelExtensions(json, members)],
  };
}

/** Any integer. Some clients draw one of 64 bits; no other protocol accepts those, so none is ever rounded. */
function decodeSeed(json: JsonRecord): number | null {
  const { seed } = json;
  return Number.isFinite(seed) ? (seed as number) : readNumber(json['seed'], 'seed');
}

/** Without empty sequences, which stop nothing and which most upstreams refuse. */
function decodeStop(value: unknown): string[] {
  if (isAbsent(value)) return [];
  const all = typeof value === 'string' ? [value] : readList(value, 'stop');
  return all.filter((sequence, index): sequence is string => {
    if (typeof sequence !== 'string') throw invalid(`stop.${index}`, 'must be a string');
    return sequence !== '';
  });
}

function decodeLogprobs(json: JsonRecord): number | null {
  if (readBoolean(json, 'logprobs') !== true) return null;
  return readNumber(json['top_logprobs'], 'top_logprobs') ?? 0;
}

/**
 * Reads `response_format`. A format that only some servers know (a grammar, a pattern) becomes an extension: without
 * it the text would have another form.
 * @throws GatewayError `invalid_value`
 */
function decodeFormat(json: JsonRecord): {
  readonly format: OutputFormat | null;
  readonly extensions: readonly Extension[];
} {
  const value = json['response_format'];
  if (isAbsent(value)) return { format: null, extensions: [] };
  const responseFormat = requireRecord(value, 'response_format');
  switch (responseFormat['type']) {
    case 'text':
      return { format: { type: 'text' }, extensions: [] };
    case 'json_object':
      return { format: { type: 'json' }, extensions: [] };
    case 'json_schema':
      return { format: decodeSchema(responseFormat), extensions: [] };
    default:
      return {
        format: null,
        extensions: [
          { protocol: 'chat', name: 'response_format', value: responseFormat, ifForeign: 'refuse' },
        ],
      };
  }
}

function decodeSchema(responseFormat: JsonRecord): OutputFormat {
  const param = 'response_format.json_schema';
  const { name, description, schema, strict } = requireRecord(responseFormat['json_schema'], param);
  if (!isAbsent(schema) && !isRecord(schema)) throw invalid(`${param}.schema`, 'must be an object');
  return {
    type: 'schema',
    name: typeof name === 'string' ? name : null,
    description: typeof description === 'string' ? description : null,
    schema: recordAt({ schema }, 'schema'),
    strict: typeof strict === 'boolean' ? strict : null,
  };
}

/** Members that have a place in the canonical request. */
const modelled = [
  'model messages stream stream_options tools functions tool_choice function_call parallel_tool_calls',
  'max_tokens max_completion_tokens temperature top_p top_k presence_penalty frequency_penalty seed stop n',
  'response_format verbosity logprobs top_logprobs prompt_cache_key safety_identifier user web_search_options',
].flatMap((names) => names.split(' '));

/** Members that do not affect the response. All other unknown members are `drop`, which is reported to the caller. */
const harmless = new Set(['metadata', 'usage']);

/**
 * All members at the top level without a place in the canonical request.
 * @param read more members that were read from this request
 */
function topLevelExtensions(json: JsonRecord, read: readonly string[]): Extension[] {
  const knownMembers = new Set([...modelled, ...read]);
  const options = json['stream_options'];
  return [
    ...leftovers(json, knownMembers).map((extension) => judged(extension)),
    ...(isRecord(options) ? streamOptions(options) : []),
  ];
}

function judged(extension: Extension): Extension {
  const { name, value } = extension;
  // Nothing is stored anyway.
  const isHarmless = harmless.has(name) || (name === 'store' && value === false);
  if (isHarmless) return { ...extension, ifForeign: 'ignore' };
  if (name !== 'modalities') return extension;
  return { ...extension, ifForeign: isTextOnly(value) ? 'ignore' : 'refuse' };
}

/** Speech or images in place of text make a different response. */
function isTextOnly(modalities: unknown): boolean {
  return Array.isArray(modalities) && modalities.every((modality) => modality === 'text');
}

function streamOptions(options: JsonRecord): Extension[] {
  const { include_usage: _, ...others } = options;
  if (Object.keys(others).length === 0) return [];
  return [{ protocol: 'chat', name: 'stream_options', value: others, ifForeign: 'ignore' }];
}

const efforts: ReadonlySet<string> = new Set(reasoningEfforts);

export interface ReadReasoning {
  readonly reasoning: ReasoningRequest | null;
  /** The members that were read. Others stay unknown members. */
  readonly members: readonly string[];
}

const nothing: ReadReasoning = { reasoning: null, members: [] };

/**
 * Reads how much the model is to think: `reasoning_effort`, or one of the switches that servers invented beside it. An
 * effort with an unknown name (`default`) stays an unknown member.
 */
export function decodeReasoningRequest(json: JsonRecord): ReadReasoning {
  const effort = readEffort(json['reasoning_effort']);
  if (effort !== null) return { reasoning: byEffort(effort), members: ['reasoning_effort'] };
  if (isRecord(json['reasoning'])) return readRouterForm(json['reasoning']);
  if (isRecord(json['thinking'])) return readThinking(json['thinking']);
  const enabled = json['enable_thinking'];
  if (typeof enabled !== 'boolean') return nothing;
  const budget = enabled ? readBudget(json['thinking_budget']) : null;
  return {
    reasoning: enabled ? switchedOn(budget) : switchedOff(),
    members: budget === null ? ['enable_thinking'] : ['enable_thinking', 'thinking_budget'],
  };
}

/** Routers: `{effort, max_tokens, enabled, exclude}`. */
function readRouterForm(form: JsonRecord): ReadReasoning {
  const members = ['reasoning'];
  const show = form['exclude'] !== true;
  const effort = readEffort(form['effort']);
  if (effort !== null) {
    const reasoning = byEffort(effort);
    return { reasoning: reasoning.mode === 'on' ? { ...reasoning, show } : reasoning, members };
  }
  const budget = readBudget(form['max_tokens']);
  if (budget !== null) return { reasoning: { ...switchedOn(budget), show }, members };
  if (form['enabled'] === false) return { reasoning: switchedOff(), members };
  if (form['enabled'] === true) return { reasoning: { ...switchedOn(null), show }, members };
  return nothing;
}

/** DeepSeek, GLM, Doubao: `{type: 'enabled' | 'disabled', budget_tokens?}`. */
function readThinking(thinking: JsonRecord): ReadReasoning {
  const members = ['thinking'];
  if (thinking['type'] === 'disabled') return { reasoning: switchedOff(), members };
  if (thinking['type'] !== 'enabled') return nothing;
  return { reasoning: switchedOn(readBudget(thinking['budget_tokens'])), members };
}

function readEffort(value: unknown): Effort | null {
  return typeof value === 'string' && efforts.has(value) ? (value as Effort) : null;
}

function readBudget(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
}

/** A chat client that asks for an effort can show the reasoning. */
function byEffort(effort: Effort): ReasoningRequest {
  if (effort === 'none') return switchedOff();
  return { mode: 'on', effort, budget: null, show: true };
}

function switchedOn(budget: number | null): ReasoningRequest {
  return { mode: 'on', effort: null, budget, show: true };
}

function switchedOff(): ReasoningRequest {
  return { mode: 'off', effort: 'none', budget: null, show: null };
}
