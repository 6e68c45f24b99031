import type { Finish } from '#canonical/index.ts';
import { readEnding } from '../../../shared/text/endings.ts';
import { type JsonRecord, recordAt } from '../../../shared/values.ts';

/** The output, as far as the finish depends on it. */
export interface SeenOutput {
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
