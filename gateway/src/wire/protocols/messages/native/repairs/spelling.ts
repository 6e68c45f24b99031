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

/** Removes lone surrogates, which are left when a text is cut inside a character. Every upstream refuses them. */
export function repairSurrogates(draft: Draft): boolean {
  let isChanged = false;
  for (const [name, member] of Object.entries(draft.root)) {
    const repairedMember = repair(member, draft);
    if (repairedMember === member) continue;
    draft.set(name, repairedMember);
    isChanged = true;
  }
  return isChanged;
}

/** Returns the same value if there is nothing to repair. */
export function toWellFormed(value: unknown): unknown {
  return repair(value, null);
}

function repair(value: unknown, draft: Draft | null): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) {
    const elements = value as readonly unknown[];
    const repairedElements = elements.map((element) => repair(element, draft));
    if (repairedElements.every((element, index) => element === elements[index])) return value;
    return draft === null ? repairedElements : draft.list(elements, repairedElements);
  }
  if (!isRecord(value)) return value;
  const changes: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const repairedMember = repair(member, draft);
    if (repairedMember !== member) changes[key] = repairedMember;
  }
  return Object.keys(changes).length === 0 ? value : withChanges(value, changes, draft);
}

function withChanges(value: JsonRecord, changes: JsonRecord, draft: Draft | null): JsonRecord {
  return draft === null ? { ...value, ...changes } : draft.change(value, changes);
}
