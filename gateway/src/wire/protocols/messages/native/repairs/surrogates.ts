import { isRecord, type JsonRecord } from '../../../values.ts';
import type { Draft } from './draft.ts';

/** Removes lone surrogates, which are left when a text is cut inside a character. Every upstream refuses them. */
export function mendSurrogates(draft: Draft): boolean {
  let changed = false;
  for (const [name, member] of Object.entries(draft.root)) {
    const mended = mend(member, draft);
    if (mended === member) continue;
    draft.set(name, mended);
    changed = true;
  }
  return changed;
}

/** Returns the same value if there is nothing to repair. */
export function toWellFormed(value: unknown): unknown {
  return mend(value, null);
}

function mend(value: unknown, draft: Draft | null): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) {
    const elements = value as readonly unknown[];
    const mended = elements.map((element) => mend(element, draft));
    if (mended.every((element, index) => element === elements[index])) return value;
    return draft === null ? mended : draft.list(elements, mended);
  }
  if (!isRecord(value)) return value;
  const changes: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const mended = mend(member, draft);
    if (mended !== member) changes[key] = mended;
  }
  return Object.keys(changes).length === 0 ? value : changed(value, changes, draft);
}

function changed(value: JsonRecord, changes: JsonRecord, draft: Draft | null): JsonRecord {
  return draft === null ? { ...value, ...changes } : draft.change(value, changes);
}
