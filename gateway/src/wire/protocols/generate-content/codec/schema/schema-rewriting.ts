import { GatewayError } from '#errors/index.ts';
import { type Budget, draw, maxDepth } from '#json/index.ts';
import type { JsonRecord } from '../../../values.ts';

/** One schema on its way into the protocol's dialect. */
export interface Rewriting {
  readonly root: JsonRecord;
  /** Names under which references are being followed, to notice a schema that contains itself. */
  readonly following: readonly string[];
  /** Schemas around it, as they will be written. */
  readonly depth: number;
  /** Say in which order properties come: the model would write them in alphabetical order. */
  readonly ordered: boolean;
  readonly notes: Notes;
}

export interface Notes {
  /** Schemas still to be visited of this one; what is left then is cut. */
  left: number;
  /** The request's. */
  readonly budget: Budget;
  /** A constraint was loosened or said in words. */
  approximated: boolean;
  /** The shape itself got wider: what comes back may be something that the schema forbids. */
  widened: boolean;
}

/** References to references can grow without bound. */
const mostOfOne = 20_000;

export function startRewriting(root: JsonRecord, ordered: boolean, budget: Budget): Rewriting {
  const notes: Notes = { left: mostOfOne, budget, approximated: false, widened: false };
  return { root, following: [], depth: 0, ordered, notes };
}

/** Counts members that are gone through. @throws GatewayError `too_complex` */
export function count({ notes }: Rewriting, members: number): void {
  draw(notes.budget, 'schemas', members);
}

/**
 * Counts schemas that are visited, or members that are copied.
 * @throws GatewayError `too_complex` when the request has visited too many in all its schemas.
 */
export function visit(way: Rewriting, schemas = 1): void {
  way.notes.left -= schemas;
  count(way, schemas);
}

/** One schema further inside. @throws GatewayError `too_complex` */
export function inside(way: Rewriting): Rewriting {
  const depth = way.depth + 1;
  if (depth > maxDepth) throw new GatewayError('too_complex');
  return { ...way, depth };
}

/**
 * Counts a value that is written once more, as often as a reference leads to it.
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

/** What a keyword said, for the model to read where the dialect cannot say it. @throws GatewayError `too_complex` */
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
