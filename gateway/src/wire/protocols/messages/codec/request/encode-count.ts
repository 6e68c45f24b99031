import { pick } from '../../../pick.ts';
import type { JsonRecord } from '../../../values.ts';

/** What the counter takes; it refuses all else of a request (`MessageCountTokensParams` of the vendor's SDK). */
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

/** A request of ours as `POST /v1/messages/count_tokens` takes it. */
export function encodeCount(json: JsonRecord): JsonRecord {
  return pick(json, counted);
}
