import { type Block, type GenerationResponse, noExtensions } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { decodeFinish } from './decode-finish.ts';
import { decodeOutputItem } from './decode-output.ts';

/** Decodes a complete response into its only candidate. */
export function decodeResponse(json: JsonRecord): GenerationResponse {
  const output = Array.isArray(json['output']) ? json['output'].filter(isRecord) : [];
  const blocks: Block[] = output.flatMap(decodeOutputItem);
  const has = (type: Block['type']): boolean => blocks.some((block) => block.type === type);
  const finish = decodeFinish(json, {
    any: blocks.length > 0,
    call: has('tool-call'),
    refusal: has('refusal'),
  });
  return { candidates: [{ blocks, finish }], extensions: noExtensions };
}
