import type { JsonRecord } from '../values.ts';

/** One schema on its way into the protocol's dialect. */
export interface Rewriting {
  readonly root: JsonRecord;
  /** Names under which references are being followed, to notice a schema that contains itself. */
  readonly following: readonly string[];
  /** Say in which order properties come: the model would write them in alphabetical order. */
  readonly ordered: boolean;
  readonly notes: Notes;
}

export interface Notes {
  /** Schemas still to be visited: references to references can grow without bound. */
  budget: number;
  /** A constraint was loosened or said in words. */
  approximated: boolean;
  /** The shape itself got wider: what comes back may be something that the schema forbids. */
  widened: boolean;
}

const nodeBudget = 20_000;

export function startRewriting(root: JsonRecord, ordered: boolean): Rewriting {
  const notes: Notes = { budget: nodeBudget, approximated: false, widened: false };
  return { root, following: [], ordered, notes };
}

/** What a keyword said, for the model to read where the dialect cannot say it. */
export function hint(keyword: string, value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return `${keyword}: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}

export function describe(description: unknown, hints: readonly string[]): string | undefined {
  const said = typeof description === 'string' ? [description] : [];
  const all = [...said, ...hints.map((text) => `(${text})`)].filter(Boolean);
  return all.length > 0 ? all.join(' ') : undefined;
}
