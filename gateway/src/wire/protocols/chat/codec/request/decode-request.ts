import type { GenerationRequest } from '#canonical/index.ts';
import type { WireRequest } from '../../../protocol.ts';
import { isAbsent, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { decodeFormat } from './decode-format.ts';
import { decodeMessages } from './decode-messages.ts';
import { decodeReasoningRequest } from './decode-reasoning-request.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { declaresLegacy, legacyExtension } from '../legacy-calls.ts';
import { invalid, readArray, readBoolean, readNumber, readString } from './request-fields.ts';
import { topLevelExtensions } from './top-level.ts';

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
    maxOutputTokens: readNumber(json, 'max_completion_tokens') ?? readNumber(json, 'max_tokens'),
    temperature: readNumber(json, 'temperature'),
    topP: readNumber(json, 'top_p'),
    topK: readNumber(json, 'top_k'),
    presencePenalty: readNumber(json, 'presence_penalty'),
    frequencyPenalty: readNumber(json, 'frequency_penalty'),
    seed: decodeSeed(json),
    stop: decodeStop(json['stop']),
    choices: request.choices,
    format,
    verbosity: readString(json, 'verbosity'),
    reasoning,
    logprobs: decodeLogprobs(json),
    cacheKey: readString(json, 'prompt_cache_key'),
    endUser: readString(json, 'safety_identifier') ?? readString(json, 'user'),
    wantsUsage: recordAt(json, 'stream_options')['include_usage'] === true,
    extensions: [...extensions, ...legacyExtension(json), ...topLevelExtensions(json, members)],
  };
}

/** Any integer. Some clients draw one of 64 bits; no other protocol accepts those, so none is ever rounded. */
function decodeSeed(json: JsonRecord): number | null {
  const { seed } = json;
  return Number.isFinite(seed) ? (seed as number) : readNumber(json, 'seed');
}

/** Without empty sequences, which stop nothing and which most upstreams refuse. */
function decodeStop(value: unknown): string[] {
  if (isAbsent(value)) return [];
  const all = typeof value === 'string' ? [value] : readArray(value, 'stop');
  return all.filter((sequence, index): sequence is string => {
    if (typeof sequence !== 'string') throw invalid(`stop.${index}`, 'must be a string');
    return sequence !== '';
  });
}

function decodeLogprobs(json: JsonRecord): number | null {
  if (readBoolean(json, 'logprobs') !== true) return null;
  return readNumber(json, 'top_logprobs') ?? 0;
}
