import type { Finish, FinishReason } from '#canonical/index.ts';
import { finishClass } from '../../../finish-class.ts';

/** Reasons that cut a response because of its content. */
const filters = [
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
  'IMAGE_OTHER',
];

const reasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  // The client would have to return its token, which only this protocol can carry.
  CONTINUATION: 'length',
  OTHER: 'other',
  FINISH_REASON_UNSPECIFIED: 'other',
  ...Object.fromEntries(filters.map((name) => [name, 'filtered'])),
};

/** Some recorders and proxies write an enumeration's number instead of its name. */
const numbered = ['FINISH_REASON_UNSPECIFIED', 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION'];

/** A complete call makes it a finish by tool: this protocol has no reason for that. */
export function decodeFinish(written: unknown, hasCalls: boolean): Finish {
  const name = typeof written === 'number' ? numbered[written] : written;
  if (typeof name !== 'string' || name === '') return { reason: hasCalls ? 'tool' : 'other' };
  const known = reasons[name] ?? reasons[name.toUpperCase()];
  const reason = known ?? finishClass(name);
  const isPlain = reason === 'end' || reason === 'other';
  return {
    reason: hasCalls && isPlain ? 'tool' : reason,
    ...(known === undefined && { isGuess: true }),
  };
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
