import {
  type Block,
  type GenerationResponse,
  noExtensions,
  type Finish,
} from '#canonical/index.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { decodeOutputItem } from './decode-output.ts';
import { readEnding } from '../../../shared/text/endings.ts';

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

/** The output, as far as the finish depends on it. */
interface SeenOutput {
  readonly any: boolean;
  readonly call: boolean;
  readonly refusal: boolean;
}

/** Why a response ended. This protocol gives a reason only if it was cut. */
export function decodeFinish(response: JsonRecord, seen: SeenOutput): Finish {
  const { status } = response;
  if (status === 'incomplete') {
    const { reason } = recordAt(response, 'incomplete_details');
    const { reason: named, ...guess } =
      typeof reason === 'string' ? readEnding(reason) : { reason: 'length' as const };
    if (named !== 'filtered') return { reason: 'length', ...guess };
    return { reason: seen.any ? 'filtered' : 'blocked', ...guess };
  }
  if (status === 'cancelled') return { reason: 'other' };
  if (seen.call) return { reason: 'tool' };
  return { reason: seen.refusal ? 'refused' : 'end' };
}
