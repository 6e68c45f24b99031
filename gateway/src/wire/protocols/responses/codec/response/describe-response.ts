import type { FinishReason, TokenUsage } from '#canonical/index.ts';
import type { ResponseContext } from '../../../codec.ts';
import { Losses } from '../../../shared/text/losses.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { encodeFormat } from '../request/encode-settings.ts';
import { encodeToolChoice, encodeTools } from '../request/encode-tools.ts';
import { ownValue } from '../request/request-extensions.ts';

/** How a response ended, in this protocol's words. */
export interface Ending {
  readonly status: 'completed' | 'incomplete';
  readonly reason: 'max_output_tokens' | 'content_filter' | null;
}

const cut = Object.freeze({ status: 'incomplete', reason: 'max_output_tokens' } as const);
const filtered = Object.freeze({ status: 'incomplete', reason: 'content_filter' } as const);
const complete = Object.freeze({ status: 'completed', reason: null } as const);

export function endingOf(reason: FinishReason): Ending {
  switch (reason) {
    case 'length':
    case 'context-full':
      return cut;
    case 'filtered':
    case 'blocked':
      return filtered;
    default:
      return complete;
  }
}

/** The ids of one response. One exchange always gives the same. */
export interface ResponseIds {
  readonly response: string;
  /** `prefix`: `msg`, `fc`, `ctc`, `rs`, `ig`; `index`: the item's place in the output. */
  item(prefix: string, index: number): string;
}

export function createResponseIds({ requestId }: ResponseContext): ResponseIds {
  const base = requestId.replace(/^req_/, '');
  return {
    response: `resp_${base}`,
    item: (prefix, index) => `${prefix}_${base}_${index}`,
  };
}

/** The members that describe a response and repeat its request, without the result. */
export function describeResponse(context: ResponseContext): JsonRecord {
  const { request } = context;
  const { reasoning, extensions, format, verbosity, toolChoice } = request;
  const metadata = ownValue(extensions, 'metadata');
  const summary = ownValue(extensions, 'reasoning.summary') ?? (reasoning?.show ? 'auto' : null);
  return {
    id: createResponseIds(context).response,
    object: 'response',
    created_at: context.createdAt,
    model: context.model,
    error: null,
    access_programs: null,
    background: false,
    instructions: request.system[0]?.text ?? null,
    max_output_tokens: request.maxOutputTokens,
    metadata: metadata ?? {},
    parallel_tool_calls: request.parallelTools ?? true,
    previous_response_id: null,
    prompt_cache_key: request.cacheKey,
    reasoning: { effort: reasoning?.effort ?? null, summary },
    safety_identifier: request.endUser,
    // Nothing is stored under this id, wherever the upstream keeps its own response.
    store: false,
    temperature: request.temperature,
    text: {
      format: encodeFormat(format ?? { type: 'text' }),
      ...(verbosity !== null && { verbosity }),
    },
    tool_choice: toolChoice === null ? 'auto' : encodeToolChoice(toolChoice, request.tools),
    tools: encodeTools(request.tools, new Losses('responses')),
    top_logprobs: request.logprobs ?? 0,
    top_p: request.topP,
    truncation: 'disabled',
  };
}

/** Usage as this protocol counts it: cache reads and writes are included in the input. */
export function encodeUsage(usage: TokenUsage | null): object | null {
  if (usage === null) return null;
  const { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning } = usage;
  const writtenTokens = cacheWrite + cacheWrite1h;
  const all = input + cacheRead + writtenTokens;
  return {
    input_tokens: all,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: writtenTokens },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: all + output,
  };
}
