import type { Finish } from '#canonical/index.ts';
import { type JsonRecord, recordAt } from '../../../values.ts';

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
    if (reason !== 'content_filter') return { reason: 'length' };
    return { reason: seen.any ? 'filtered' : 'blocked' };
  }
  if (status === 'cancelled') return { reason: 'other' };
  if (seen.call) return { reason: 'tool' };
  return { reason: seen.refusal ? 'refused' : 'end' };
}
