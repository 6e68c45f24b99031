import type { Finish } from '#canonical/index.ts';
import { type JsonRecord, recordAt } from '../../../values.ts';

/** What the output held, as far as it decides why it ended. */
export interface SeenOutput {
  readonly any: boolean;
  readonly call: boolean;
  readonly refusal: boolean;
}

/** Why a response ended: this protocol says it only of one that was cut. */
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
