import type { Extension } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { leftovers } from './request-fields.ts';

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
export function topLevelExtensions(json: JsonRecord, read: readonly string[]): Extension[] {
  const known = new Set([...modelled, ...read]);
  const options = json['stream_options'];
  return [
    ...leftovers(json, known).map((extension) => judged(extension)),
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
