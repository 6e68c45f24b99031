import type { JsonObject } from '../json.ts';
import { invalid } from './protocol.ts';

/**
 * Whether fields outside the published set may pass. The vendor rejects them without a beta header.
 * The simulator also accepts the prefix `x_`, for tests of unknown fields.
 */
export interface Strictness {
  readonly beta: boolean;
  /** `anthropic-version: 2026-10-21`, which dropped the sampling parameters. */
  readonly latest: boolean;
}

/** @throws Rejection naming the first field that is not in the set */
export function rejectExtra(
  value: JsonObject,
  known: ReadonlySet<string>,
  path: string,
  strictness: Strictness,
): void {
  if (strictness.beta) return;
  for (const key of Object.keys(value)) {
    if (known.has(key) || key.startsWith('x_')) continue;
    throw invalid(`${path}${key}: Extra inputs are not permitted`);
  }
}

export const requestFields = new Set(
  (
    'model max_tokens messages system stream stop_sequences tools tool_choice thinking ' +
    'output_config metadata cache_control service_tier speed inference_geo container diagnostics ' +
    'temperature top_p top_k'
  ).split(' '),
);

/** Fields of a token count, which omits everything that is not input. */
export const countFields = new Set(
  (
    'model messages system tools tool_choice thinking output_config cache_control speed ' +
    'user_profile_id workspace_id'
  ).split(' '),
);

/** Fields of block types with a closed set. Other types are not checked. */
export const blockFields: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text', 'cache_control', 'citations']),
  image: new Set(['type', 'source', 'cache_control', 'transformations']),
  document: new Set(['type', 'source', 'title', 'context', 'citations', 'cache_control']),
  tool_use: new Set(['type', 'id', 'name', 'input', 'caller', 'cache_control', 'toolset_name']),
  tool_result: new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
};

/** Server tool history and beta blocks: accepted as they are. */
export const otherBlocks = new Set(
  (
    'search_result server_tool_use web_search_tool_result web_fetch_tool_result ' +
    'code_execution_tool_result bash_code_execution_tool_result ' +
    'text_editor_code_execution_tool_result tool_search_tool_result container_upload ' +
    'tool_reference browser_state mcp_tool_use mcp_tool_result compaction'
  ).split(' '),
);
