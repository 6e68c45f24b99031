import { pick, type JsonRecord } from '../../../shared/values.ts';

/** Members that the counter accepts (`InputTokenCountParams` in the vendor's SDK). */
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

/** The body of `POST /v1/responses/input_tokens` for an encoded request. */
export function encodeCount(json: JsonRecord): JsonRecord {
  return pick(json, counted);
}
