import { GatewayError } from '#errors/index.ts';
import { type Budget, draw, maxDepth } from '#json/index.ts';
import type { JsonRecord } from './values.ts';

/** The state of rewriting one schema into the protocol's dialect. */
export interface Rewriting {
  readonly root: JsonRecord;
  /** The references that are being followed, to notice a recursive schema. */
  readonly following: readonly string[];
  /** How many written schemas enclose it. */
  readonly depth: number;
  /** Declare the order of properties, which the model would write alphabetically. */
  readonly ordered: boolean;
  readonly notes: Notes;
}

export interface Notes {
  /** How many more of its schemas may be visited. The rest is cut. */
  left: number;
  /** The request's budget. */
  readonly budget: Budget;
  /** A constraint was loosened or moved into words. */
  approximated: boolean;
  /** The written schema allows shapes that the original forbids. */
  widened: boolean;
}

/** The most schemas to visit: references to references can grow without bound. */
const mostOfOne = 20_000;

export function startRewriting(root: JsonRecord, ordered: boolean, budget: Budget): Rewriting {
  const notes: Notes = { left: mostOfOne, budget, approximated: false, widened: false };
  return { root, following: [], depth: 0, ordered, notes };
}

/** Counts visited members. @throws GatewayError `too_complex` */
export function count({ notes }: Rewriting, members: number): void {
  draw(notes.budget, 'schemas', members);
}

/**
 * Counts visited schemas, or copied members.
 * @throws GatewayError `too_complex` after too many in all schemas of the request.
 */
export function visit(way: Rewriting, schemas = 1): void {
  way.notes.left -= schemas;
  count(way, schemas);
}

/** Enters a schema one level deeper. @throws GatewayError `too_complex` */
export function inside(way: Rewriting): Rewriting {
  const depth = way.depth + 1;
  if (depth > maxDepth) throw new GatewayError('too_complex');
  return { ...way, depth };
}

/**
 * Counts a value each time that a reference makes the gateway write it.
 * @throws GatewayError `too_complex`
 */
export function drawOutput(value: unknown, { notes: { budget } }: Rewriting): void {
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') draw(budget, 'output', next.length);
    else draw(budget, 'output');
    if (typeof next !== 'object' || next === null) continue;
    for (const name in next) {
      draw(budget, 'output', name.length);
      waiting.push((next as JsonRecord)[name]);
    }
  }
}

/** Puts a keyword that the dialect lacks into words for the model. @throws GatewayError `too_complex` */
export function hint(keyword: string, value: unknown, way: Rewriting): string {
  drawOutput(value, way);
  const text = JSON.stringify(value) ?? '';
  return `${keyword}: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}

export function describe(description: unknown, hints: readonly string[]): string | undefined {
  const said = typeof description === 'string' ? [description] : [];
  const all = [...said, ...hints.map((text) => `(${text})`)].filter(Boolean);
  return all.length > 0 ? all.join(' ') : undefined;
}
