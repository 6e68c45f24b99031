import { isRecord, recordAt } from '../../values.ts';
import type { Draft } from './draft.ts';

/** Only what can be meant one way. */
const digits = /^\d{1,15}$/;

/** A count that was written as text; anything else as it is. */
export function readNumeral(value: unknown): unknown {
  return typeof value === 'string' && digits.test(value) ? Number(value) : value;
}

/** A yes or no that was written as text or as a number; anything else as it is. */
export function readYesNo(value: unknown): unknown {
  if (value === 'true' || value === 1) return true;
  return value === 'false' || value === 0 ? false : value;
}

export function mendSpelling(draft: Draft): boolean {
  const { root } = draft;
  const stream = readYesNo(root['stream']);
  const limit = readNumeral(root['max_tokens']);
  const { thinking } = root;
  const budget = recordAt(root, 'thinking')['budget_tokens'];
  const read = readNumeral(budget);
  if (stream !== root['stream']) draft.set('stream', stream);
  if (limit !== root['max_tokens']) draft.set('max_tokens', limit);
  if (read !== budget && isRecord(thinking)) {
    draft.set('thinking', draft.change(thinking, { budget_tokens: read }));
  }
  return draft.root !== root;
}
