import { type Edit, type MemberRange, removeMember, splice } from '../../../json/index.ts';
import { comma, skipSpace } from '../../../json/skip.ts';
import type { JsonRecord } from '../../values.ts';
import { Positions, type Range } from './layout.ts';
import { Verbatim } from './verbatim.ts';

/** What a changed copy was made from; nothing for what is new. */
export type Origins = ReadonlyMap<object, object>;

/**
 * The edits that make the bytes of `original` those of `repaired`. Values that are the very same ones, or were moved
 * as they are, keep their bytes; of a changed copy only the members and elements that differ are written anew.
 */
export function editsBetween(
  body: Buffer,
  original: JsonRecord,
  repaired: JsonRecord,
  origins: Origins,
): Edit[] {
  const writer = new Writer(body, original, origins);
  return writer.edits(original, repaired, writer.rangeOf(original));
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

  edits(original: unknown, repaired: unknown, range: Range): Edit[] {
    if (original === repaired) return [];
    if (typeof repaired === 'object' && repaired !== null) {
      if (this.#origins.get(repaired) === original) {
        if (Array.isArray(repaired)) {
          return this.#listEdits(original as readonly unknown[], repaired, range);
        }
        return this.#objectEdits(original as JsonRecord, repaired as JsonRecord, range);
      }
    }
    return [{ ...range, bytes: this.#write(repaired) }];
  }

  #objectEdits(original: JsonRecord, repaired: JsonRecord, range: Range): Edit[] {
    const members = this.#positions.members(original, range);
    const edits: Edit[] = [];
    const removed: MemberRange[] = [];
    const last = new Map(members.map((member) => [member.key, member]));
    for (const member of members) {
      if (!Object.hasOwn(repaired, member.key)) removed.push(member);
      else if (last.get(member.key) === member) {
        const at = { start: member.valueStart, end: member.valueEnd };
        edits.push(...this.edits(original[member.key], repaired[member.key], at));
      }
    }
    const added = Object.keys(repaired).filter((key) => !Object.hasOwn(original, key));
    const [first] = members;
    if (first !== undefined && removed.length === members.length) {
      const text = added.map((key) => this.#member(key, repaired[key]));
      const end = members.at(-1)!.valueEnd;
      return [{ start: first.keyStart, end, bytes: join(text, ',') }];
    }
    const object = { start: range.start + 1, empty: members.length === 0 };
    for (const [index, key] of added.entries()) {
      const empty = object.empty && index === added.length - 1;
      edits.push(insertRaw(object.start, this.#member(key, repaired[key]), empty));
    }
    return [...edits, ...this.#removals(removed)];
  }

  /** Neighbours go together, since each alone would want the comma between them. */
  #removals(members: readonly MemberRange[]): Edit[] {
    const runs: MemberRange[] = [];
    for (const member of members) {
      const previous = runs.at(-1);
      if (previous !== undefined && this.#next(previous.valueEnd) === member.keyStart) {
        runs[runs.length - 1] = { ...previous, valueEnd: member.valueEnd };
      } else runs.push(member);
    }
    return runs.map((run) => removeMember(this.#body, run));
  }

  #next(end: number): number {
    const at = skipSpace(this.#body, end);
    return this.#body[at] === comma ? skipSpace(this.#body, at + 1) : at;
  }

  #listEdits(original: readonly unknown[], repaired: readonly unknown[], range: Range): Edit[] {
    const ranges = this.#positions.elements(original, range);
    const edits: Edit[] = [];
    /** New elements that wait for the next one that stays. */
    let fresh: Buffer[] = [];
    const places = new Map(original.map((element, index) => [element, index]));
    let kept = -1;
    for (const element of repaired) {
      const source = this.#sourceOf(element);
      // One that is new, or comes from further ahead, is not looked for.
      const index = (places.get(source) ?? -1) > kept ? original.indexOf(source, kept + 1) : -1;
      if (index < 0) {
        fresh.push(this.#write(element));
        continue;
      }
      edits.push(...this.#between(ranges, kept, index, fresh));
      edits.push(...this.edits(original[index], element, ranges[index]!));
      fresh = [];
      kept = index;
    }
    return [...edits, ...this.#tail(ranges, kept, fresh, range)];
  }

  #sourceOf(element: unknown): unknown {
    if (typeof element !== 'object' || element === null) return element;
    return this.#origins.get(element) ?? element;
  }

  /** What stands between two elements that stay, or before the first. */
  #between(ranges: readonly Range[], kept: number, next: number, fresh: Buffer[]): Edit[] {
    if (next === kept + 1 && fresh.length === 0) return [];
    const start = ranges[kept + 1]!.start;
    const separator = kept < 0 ? ',' : this.#body.toString('utf8', ranges[kept]!.end, start);
    const bytes = Buffer.concat(fresh.flatMap((element) => [element, Buffer.from(separator)]));
    return [{ start, end: ranges[next]!.start, bytes }];
  }

  #tail(ranges: readonly Range[], kept: number, fresh: Buffer[], list: Range): Edit[] {
    const last = ranges.at(-1);
    if (kept === ranges.length - 1 && fresh.length === 0) return [];
    if (last === undefined) {
      return [{ start: list.start + 1, end: list.start + 1, bytes: join(fresh, ',') }];
    }
    if (kept < 0) {
      return [{ start: ranges[0]!.start, end: last.end, bytes: join(fresh, ',') }];
    }
    const bytes = Buffer.concat(fresh.flatMap((element) => [Buffer.from(','), element]));
    return [{ start: ranges[kept]!.end, end: last.end, bytes }];
  }

  /** A whole value: bytes of the body where it is of the body. */
  #write(value: unknown): Buffer {
    if (typeof value !== 'object' || value === null) return Buffer.from(JSON.stringify(value));
    if (value instanceof Verbatim) return Buffer.from(value.json.trim());
    const source = this.#origins.get(value) ?? value;
    const range = this.#positions.find(source);
    if (range !== null) {
      const edits = this.edits(source, value, range).map((edit) => ({
        ...edit,
        start: edit.start - range.start,
        end: edit.end - range.start,
      }));
      return splice(this.#body.subarray(range.start, range.end), edits);
    }
    if (Array.isArray(value)) {
      const elements = (value as unknown[]).map((element) => this.#write(element));
      return Buffer.concat([Buffer.from('['), join(elements, ','), Buffer.from(']')]);
    }
    const members = Object.entries(value).map(([key, member]) => this.#member(key, member));
    return Buffer.concat([Buffer.from('{'), join(members, ','), Buffer.from('}')]);
  }

  #member(key: string, value: unknown): Buffer {
    return Buffer.concat([Buffer.from(`${JSON.stringify(key)}:`), this.#write(value)]);
  }
}

function insertRaw(start: number, member: Buffer, isOnly: boolean): Edit {
  return { start, end: start, bytes: isOnly ? member : join([member, Buffer.alloc(0)], ',') };
}

function join(parts: readonly Buffer[], separator: string): Buffer {
  return Buffer.concat(
    parts.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from(separator), part])),
  );
}
