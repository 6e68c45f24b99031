import { type Edit, type Range, removeMembers } from '#json/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { Positions } from './layout.ts';

/** White space between two elements is kept up to this many bytes. */
const longestSeparator = 256;
const nothing = Buffer.alloc(0);

/** The original of a changed copy; undefined for a new value. */
type Origins = ReadonlyMap<object, object>;

/**
 * The edits that turn the bytes of `original` into those of `repaired`. Identical and moved values keep their bytes. Of
 * a changed copy, only the members and elements that differ are written anew.
 */
export function editsBetween(
  body: Buffer,
  original: JsonRecord,
  repaired: JsonRecord,
  origins: Origins,
): Edit[] {
  const writer = new Writer(body, original, origins);
  const edits: Edit[] = [];
  writer.edit(original, repaired, writer.rangeOf(original), edits);
  return edits;
}

class Writer {
  readonly #body: Buffer;
  readonly #positions: Positions;
  readonly #origins: Origins;

  constructor(body: Buffer, root: object, origins: Origins) {
    this.#body = body;
    this.#positions = new Positions(body, root);
    this.#origins = origins;
  }

  rangeOf(value: object): Range {
    const range = this.#positions.find(value);
    if (range === null) throw new RangeError('not a value of this body');
    return range;
  }

  /** Appends to one list at every depth, so that nested edits are copied once instead of once for each level. */
  edit(original: unknown, repaired: unknown, range: Range, edits: Edit[]): void {
    if (original === repaired) return;
    if (
      typeof repaired !== 'object' ||
      repaired === null ||
      this.#origins.get(repaired) !== original
    ) {
      edits.push({ ...range, bytes: this.#bytesOf(repaired) });
    } else if (Array.isArray(repaired)) {
      this.#editList(original as readonly unknown[], repaired, range, edits);
    } else this.#editObject(original as JsonRecord, repaired as JsonRecord, range, edits);
  }

  #editObject(original: JsonRecord, repaired: JsonRecord, range: Range, edits: Edit[]): void {
    const members = this.#positions.members(original, range);
    const removed = new Set<object>();
    const last = new Map(members.map((member) => [member.key, member]));
    for (const member of members) {
      if (!Object.hasOwn(repaired, member.key)) removed.add(member);
      else if (last.get(member.key) === member) {
        const at = { start: member.valueStart, end: member.valueEnd };
        this.edit(original[member.key], repaired[member.key], at, edits);
      }
    }
    const added = Object.keys(repaired).filter((key) => !Object.hasOwn(original, key));
    const text = () => added.map((key) => this.#member(key, repaired[key]));
    const [first] = members;
    if (first !== undefined && removed.size === members.length) {
      const end = members.at(-1)!.valueEnd;
      edits.push({ start: first.keyStart, end, bytes: join(text(), ',') });
      return;
    }
    if (added.length > 0) {
      const start = range.start + 1;
      const separated = members.length === 0 ? text() : [...text(), nothing];
      edits.push({ start, end: start, bytes: join(separated, ',') });
    }
    for (const edit of removeMembers(this.#body, members, (member) => removed.has(member))) {
      edits.push(edit);
    }
  }

  #editList(
    original: readonly unknown[],
    repaired: readonly unknown[],
    range: Range,
    edits: Edit[],
  ): void {
    const ranges = this.#positions.elements(original, range);
    /** New elements that wait for the next kept one. */
    let fresh: Buffer[] = [];
    const places = new Map(original.map((element, index) => [element, index]));
    let keptAt = -1;
    for (const element of repaired) {
      const source = this.#sourceOf(element);
      // New elements, and those from further ahead, are not searched for.
      const index = (places.get(source) ?? -1) > keptAt ? original.indexOf(source, keptAt + 1) : -1;
      if (index < 0) {
        fresh.push(this.#bytesOf(element));
        continue;
      }
      const between = this.#between(ranges, keptAt, index, fresh);
      if (between !== null) edits.push(between);
      this.edit(original[index], element, ranges[index]!, edits);
      fresh = [];
      keptAt = index;
    }
    const tail = this.#tail(ranges, keptAt, fresh, range);
    if (tail !== null) edits.push(tail);
  }

  #sourceOf(element: unknown): unknown {
    if (typeof element !== 'object' || element === null) return element;
    return this.#origins.get(element) ?? element;
  }

  /** The bytes between two kept elements, or before the first. */
  #between(ranges: readonly Range[], keptAt: number, next: number, fresh: Buffer[]): Edit | null {
    if (next === keptAt + 1 && fresh.length === 0) return null;
    const start = ranges[keptAt + 1]!.start;
    const separator = keptAt < 0 ? ',' : this.#separator(ranges[keptAt]!.end, start);
    const bytes = Buffer.concat(fresh.flatMap((element) => [element, Buffer.from(separator)]));
    return { start, end: ranges[next]!.start, bytes };
  }

  /** The client's separator between elements, with limited white space, since it is repeated for each new one. */
  #separator(from: number, to: number): string {
    return to - from > longestSeparator ? ',' : this.#body.toString('utf8', from, to);
  }

  #tail(ranges: readonly Range[], keptAt: number, fresh: Buffer[], list: Range): Edit | null {
    const last = ranges.at(-1);
    if (keptAt === ranges.length - 1 && fresh.length === 0) return null;
    if (last === undefined) {
      return { start: list.start + 1, end: list.start + 1, bytes: join(fresh, ',') };
    }
    if (keptAt < 0) return { start: ranges[0]!.start, end: last.end, bytes: join(fresh, ',') };
    return { start: ranges[keptAt]!.end, end: last.end, bytes: join([nothing, ...fresh], ',') };
  }

  #bytesOf(value: unknown): Buffer {
    const pieces: Buffer[] = [];
    this.#write(value, pieces);
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  #member(key: string, value: unknown): Buffer {
    const pieces = [Buffer.from(`${JSON.stringify(key)}:`)];
    this.#write(value, pieces);
    return Buffer.concat(pieces);
  }

  /** A whole value as pieces, to be joined once. Values of the body keep their bytes. */
  #write(value: unknown, pieces: Buffer[]): void {
    if (typeof value !== 'object' || value === null) {
      pieces.push(Buffer.from(JSON.stringify(value)));
      return;
    }
    if (value instanceof Verbatim) {
      pieces.push(Buffer.from(value.json.trim()));
      return;
    }
    const source = this.#origins.get(value) ?? value;
    const range = this.#positions.find(source);
    if (range !== null) this.#writeMoved(source, value, range, pieces);
    else if (Array.isArray(value)) {
      pieces.push(Buffer.from('['));
      for (const [index, element] of (value as unknown[]).entries()) {
        if (index > 0) pieces.push(Buffer.from(','));
        this.#write(element, pieces);
      }
      pieces.push(Buffer.from(']'));
    } else {
      let before = '{';
      for (const [key, member] of Object.entries(value)) {
        pieces.push(Buffer.from(`${before}${JSON.stringify(key)}:`));
        this.#write(member, pieces);
        before = ',';
      }
      pieces.push(Buffer.from(before === '{' ? '{}' : '}'));
    }
  }

  /** The bytes of a changed copy. */
  #writeMoved(source: object, value: object, range: Range, pieces: Buffer[]): void {
    const edits: Edit[] = [];
    this.edit(source, value, range, edits);
    let at = range.start;
    for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
      pieces.push(this.#body.subarray(at, edit.start), edit.bytes);
      at = edit.end;
    }
    pieces.push(this.#body.subarray(at, range.end));
  }
}

function join(parts: readonly Buffer[], separator: string): Buffer {
  return Buffer.concat(
    parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(separator), part])),
  );
}

/** JSON that is written unchanged, so that its numbers keep all digits. */
export class Verbatim {
  readonly json: string;
  constructor(json: string) {
    this.json = json;
  }
}
