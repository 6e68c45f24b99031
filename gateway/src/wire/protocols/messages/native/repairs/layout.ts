import { elementsAt, type Ends, type KeyedRange, membersAt, type Range } from '#json/index.ts';
import {
  closeBrace,
  closeBracket,
  openBrace,
  openBracket,
  quote,
  skipSpace,
  skipString,
} from '#json/skip.ts';

/** Skipping a smaller value is faster than remembering its end. */
const largeBytes = 64;

/**
 * Finds all ends in one pass over the bytes. Skipping a deeply nested value once for each level would take quadratic
 * time. For valid JSON only.
 */
function endsIn(body: Buffer): Ends {
  const ends = new Map<number, number>();
  const open: number[] = [];
  let at = 0;
  while (at < body.length) {
    const byte = body[at]!;
    if (byte === quote) {
      at = skipString(body, at);
      continue;
    }
    at += 1;
    if (byte === openBrace || byte === openBracket) open.push(at - 1);
    else if (byte === closeBrace || byte === closeBracket) {
      const start = open.pop()!;
      if (at - start >= largeBytes) ends.set(start, at);
    }
  }
  return ends;
}

/** The places of a parsed body's objects and lists in its bytes. Needed only for a change. */
export class Positions {
  readonly #body: Buffer;
  readonly #root: object;
  readonly #knownRanges = new Map<object, Range>();
  #originals: ReadonlySet<object> | null = null;
  #complete = false;
  #ends: Ends | null = null;

  constructor(body: Buffer, root: object) {
    this.#body = body;
    this.#root = root;
    // Nobody asks for its end.
    this.#knownRanges.set(root, { start: skipSpace(body, 0), end: body.length });
  }

  /** Null for a value that is not part of the body. */
  find(value: object): Range | null {
    const range = this.#knownRanges.get(value);
    if (range !== undefined || this.#complete) return range ?? null;
    if (this.#originals === null) this.#originals = collect(this.#root, new Set());
    // A pass over all bytes is the most expensive step. New values do not need it.
    if (!this.#originals.has(value)) return null;
    this.#index(this.#root);
    this.#complete = true;
    return this.#knownRanges.get(value) ?? null;
  }

  /** The members of an object of the body. Remembers the places of their values. */
  members(object: Readonly<Record<string, unknown>>, range: Range): KeyedRange[] {
    const members = membersAt(this.#body, range.start, this.#largeEnds());
    for (const { key, valueStart, valueEnd } of members) {
      this.#remember(object[key], { start: valueStart, end: valueEnd });
    }
    return members;
  }

  elements(list: readonly unknown[], range: Range): Range[] {
    const elements = elementsAt(this.#body, range.start, this.#largeEnds());
    for (const [index, element] of elements.entries()) this.#remember(list[index], element);
    return elements;
  }

  #largeEnds(): Ends {
    this.#ends ??= endsIn(this.#body);
    return this.#ends;
  }

  /** Of two members with one name, the parser took the later one, so its place is remembered. */
  #remember(value: unknown, range: Range): void {
    if (typeof value === 'object' && value !== null && this.#body[range.start] !== quote) {
      this.#knownRanges.set(value, range);
    }
  }

  #index(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const range = this.#knownRanges.get(value);
    if (range === undefined) return;
    if (Array.isArray(value)) {
      this.elements(value, range);
      for (const element of value as unknown[]) this.#index(element);
      return;
    }
    const object = value as Readonly<Record<string, unknown>>;
    this.members(object, range);
    for (const member of Object.values(object)) this.#index(member);
  }
}

function collect(value: unknown, foundObjects: Set<object>): Set<object> {
  if (typeof value !== 'object' || value === null) return foundObjects;
  foundObjects.add(value);
  for (const member of Object.values(value)) collect(member, foundObjects);
  return foundObjects;
}
