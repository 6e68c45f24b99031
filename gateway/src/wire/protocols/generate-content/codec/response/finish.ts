import type { Finish, FinishReason } from '#canonical/index.ts';

/** Reasons that cut an answer because of what it says (or shows). */
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
  // Its token would have to be sent back, which only this protocol can.
  CONTINUATION: 'length',
  ...Object.fromEntries(filters.map((name) => [name, 'filtered'])),
};

/** Some recorders and proxies write the number of the enumeration instead of its name. */
const numbered = ['FINISH_REASON_UNSPECIFIED', 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION'];

/** A call was made whenever there is a complete one: the protocol itself has no reason of its own for that. */
export function decodeFinish(written: unknown, hasCalls: boolean): Finish {
  const name = typeof written === 'number' ? numbered[written] : written;
  const reason = (typeof name === 'string' ? reasons[name] : undefined) ?? 'other';
  return { reason: hasCalls && (reason === 'end' || reason === 'other') ? 'tool' : reason };
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
