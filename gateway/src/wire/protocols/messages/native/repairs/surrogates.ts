import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import type { Draft } from './draft.ts';

/** Removes lone surrogates, which are left when a text is cut inside a character. Every upstream refuses them. */
export function repairSurrogates(draft: Draft): boolean {
  let changed = false;
  for (const [name, member] of Object.entries(draft.root)) {
    const repaired = repair(member, draft);
    if (repaired === member) continue;
    draft.set(name, repaired);
    changed = true;
  }
  return changed;
}

/** Returns the same value if there is nothing to repair. */
export function toWellFormed(value: unknown): unknown {
  return repair(value, null);
}

function repair(value: unknown, draft: Draft | null): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) {
    const elements = value as readonly unknown[];
    const repaired = elements.map((element) => repair(element, draft));
    if (repaired.every((element, index) => element === elements[index])) return value;
    return draft === null ? repaired : draft.list(elements, repaired);
  }
  if (!isRecord(value)) return value;
  const changes: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const repaired = repair(member, draft);
    if (repaired !== member) changes[key] = repaired;
  }
  return Object.keys(changes).length === 0 ? value : changed(value, changes, draft);
}

function changed(value: JsonRecord, changes: JsonRecord, draft: Draft | null): JsonRecord {
  return draft === null ? { ...value, ...changes } : draft.change(value, changes);
}
