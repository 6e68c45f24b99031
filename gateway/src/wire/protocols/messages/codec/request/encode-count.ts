import { pick, type JsonRecord } from '../../../shared/values.ts';

/** The members that the counter accepts (`MessageCountTokensParams` in the vendor's SDK). It refuses all others. */
const counted = [
  'model',
  'system',
  'messages',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
  'speed',
] as const;

/** The body of `POST /v1/messages/count_tokens` for an encoded request. */
export function encodeCount(json: JsonRecord): JsonRecord {
  return pick(json, counted);
}
