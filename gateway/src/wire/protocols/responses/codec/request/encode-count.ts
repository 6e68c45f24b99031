import { pick } from '../../../pick.ts';
import type { JsonRecord } from '../../../values.ts';

/** What the counter takes (`InputTokenCountParams` of the vendor's SDK). */
const counted = [
  'model',
  'instructions',
  'input',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
] as const;

/** A request of ours as `POST /v1/responses/input_tokens` takes it. */
export function encodeCount(json: JsonRecord): JsonRecord {
  return pick(json, counted);
}
