import type { EncodeTarget } from '../../../codec.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { resourceName } from '../../resource-name.ts';

/**
 * The body of `:countTokens` for an encoded request. A bare request may have `contents` only. A wrapped one is counted
 * with its instructions and tools, and must name its model.
 */
export function encodeCount(json: JsonRecord, { model }: EncodeTarget): JsonRecord {
  return { generateContentRequest: { model: resourceName(model), ...json } };
}
