import type { Finish, FinishReason } from '#canonical/index.ts';
import { readEnding } from '../../../shared/text/endings.ts';

/** Some recorders and proxies write an enumeration's number instead of its name. */
const numbered = ['FINISH_REASON_UNSPECIFIED', 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION'];

/** A complete call makes it a finish by tool: this protocol has no reason for that. */
export function decodeFinish(written: unknown, hasCalls: boolean): Finish {
  const name = typeof written === 'number' ? numbered[written] : written;
  if (typeof name !== 'string' || name === '') return { reason: hasCalls ? 'tool' : 'other' };
  const { reason, ...guess } = readEnding(name);
  const isPlain = reason === 'end' || reason === 'other';
  return { reason: hasCalls && isPlain ? 'tool' : reason, ...guess };
}

const names: Readonly<Record<FinishReason, string>> = {
  end: 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  'context-full': 'MAX_TOKENS',
  tool: 'STOP',
  filtered: 'SAFETY',
  refused: 'STOP',
  pause: 'STOP',
  blocked: 'SAFETY',
  other: 'OTHER',
};

export function encodeFinish(finish: Finish): string {
  return names[finish.reason];
}
