import type { EncodeTarget } from '../../../codec.ts';
import type { JsonRecord } from '../../../values.ts';
import { resourceName } from '../../resource-name.ts';

/**
 * A request of ours as `:countTokens` takes it: bare it may have nothing but `contents`; wrapped it is counted with
 * its instructions and tools, and has to name its model.
 */
export function encodeCount(json: JsonRecord, { model }: EncodeTarget): JsonRecord {
  return { generateContentRequest: { model: resourceName(model), ...json } };
}
