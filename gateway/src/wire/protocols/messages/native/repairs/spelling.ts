import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import type { Draft } from './draft.ts';

/** Spellings with a single possible meaning. */
const digits = /^\d{1,15}$/;

/** Reads a count that was written as text. Returns anything else unchanged. */
export function readNumeral(value: unknown): unknown {
  return typeof value === 'string' && digits.test(value) ? Number(value) : value;
}

const decimal = /^\d{1,15}(\.\d{1,15})?$/;

/** More numbers of the request, which older models accept. */
const numbers = ['top_p', 'top_k'] as const;

const isWrittenNumber = (value: unknown): value is string =>
  typeof value === 'string' && decimal.test(value);

export function hasWrittenNumber(json: JsonRecord): boolean {
  return numbers.some((name) => isWrittenNumber(json[name]));
}

/** Reads a boolean that was written as text or as a number. Returns anything else unchanged. */
export function readYesNo(value: unknown): unknown {
  if (value === 'true' || value === 1) return true;
  return value === 'false' || value === 0 ? false : value;
}

export function repairSpelling(draft: Draft): boolean {
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
  for (const name of numbers) {
    const value = root[name];
    if (isWrittenNumber(value)) draft.set(name, Number(value));
  }
  return draft.root !== root;
}
