import { isUtf8 } from 'node:buffer';
import { GatewayError } from '#errors/index.ts';
import { type Budget, openBudget } from './budget.ts';
import {
  closeBrace,
  colon,
  comma,
  openBrace,
  quote,
  skipSpace,
  skipString,
  skipValue,
  tooComplex,
} from './skip.ts';

/** A member to watch; `members` lists what to watch inside its value if that is an object. */
interface WatchedMember {
  /** Dotted path from the root, in the watch list's own spelling. */
  readonly path: string;
  readonly object: WatchedObject | null;
}

export interface WatchedObject {
  readonly path: string;
  /** Members by every spelling that the gateway reads. */
  readonly bySpelling: ReadonlyMap<string, WatchedMember>;
  /** Members by folded name: a key that folds to a watched one without being one of its spellings is refused. */
  readonly byFold: ReadonlyMap<string, WatchedMember>;
  readonly fold: (key: string) => string;
}

interface WatchOptions {
  /** Also reads `snake_case` for every `camelCase` name in the list, as proto3 JSON does. */
  readonly snakeCaseToo?: boolean;
}

/**
 * Compiles dotted paths (`stream_options.include_usage`). Every object on the way to a watched member is watched too:
 * none of its members may appear twice.
 */
export function watchList(paths: readonly string[], options: WatchOptions = {}): WatchedObject {
  return compile('', paths, options.snakeCaseToo ?? false);
}

function compile(path: string, below: readonly string[], snakeCaseToo: boolean): WatchedObject {
  const bySpelling = new Map<string, WatchedMember>();
  const byFold = new Map<string, WatchedMember>();
  const fold = snakeCaseToo ? foldCaseAndUnderscores : foldCase;
  for (const name of new Set(below.map((rest) => rest.split('.', 1)[0] ?? ''))) {
    const memberPath = path === '' ? name : `${path}.${name}`;
    const inside = below
      .filter((rest) => rest.startsWith(`${name}.`))
      .map((rest) => rest.slice(name.length + 1));
    const object = inside.length > 0 ? compile(memberPath, inside, snakeCaseToo) : null;
    const member: WatchedMember = { path: memberPath, object };
    bySpelling.set(name, member);
    if (snakeCaseToo) bySpelling.set(snakeCase(name), member);
    byFold.set(fold(name), member);
  }
  return { path, bySpelling, byFold, fold };
}

/** Upper case first: that also folds the letters (`ſ`, `K`) that case-insensitive readers take for ASCII ones. */
export function foldCase(key: string): string {
  return key.toUpperCase().toLowerCase();
}

export function foldCaseAndUnderscores(key: string): string {
  return foldCase(key).replaceAll('_', '');
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * The positions of the members that the gateway reads in a JSON body, in bytes. Created in one pass over the bytes,
 * which also checks the nesting limit and that no watched object has a member twice.
 */
export interface JsonScan {
  /**
   * Ranges by dotted path as in the watch list (`model`, `stream_options.include_usage`). An absent path is not in the
   * body.
   */
  readonly members: ReadonlyMap<string, MemberRange>;
  /** Watched objects by dotted path (`''` is the root): where a new first member can be inserted. */
  readonly objects: ReadonlyMap<string, ObjectRange>;
  /** The number of members in all objects except the watched ones. */
  readonly memberCount: number;
  /** The number of objects and lists below the watched ones, plus elements after the first. */
  readonly valueCount: number;
}

export interface MemberRange {
  /** First byte of the key, its opening quote. */
  readonly keyStart: number;
  readonly valueStart: number;
  /** One past the last byte of the value. */
  readonly valueEnd: number;
}

export interface ObjectRange {
  /** One past the `{`. */
  readonly start: number;
  readonly empty: boolean;
}

/** Limit for objects that the gateway reads, where every key is compared with every other. */
const maxWatchedMembers = 10_000;

/**
 * Scans a body whose root must be an object. It may accept text that is not JSON (`JSON.parse` decides that), but for
 * JSON the ranges are exact. Linear in the body; the recursion is as deep as the watch list, not the body.
 * @param budget the budget for the values of the body
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`.
 */
export function scanJson(
  body: Buffer,
  watch: WatchedObject,
  budget: Budget = openBudget(body.length),
): JsonScan {
  const members = new Map<string, MemberRange>();
  const objects = new Map<string, ObjectRange>();
  const start = skipSpace(body, 0);
  if (body[start] !== openBrace) throw new GatewayError('invalid_body');
  const before = { ...budget };
  const end = scanObject(body, start, watch, 1, { members, objects, budget });
  if (skipSpace(body, end) !== body.length) throw new GatewayError('invalid_body');
  return {
    members,
    objects,
    memberCount: before.members - budget.members,
    valueCount: before.values - budget.values,
  };
}

export interface ParsedObject {
  readonly scan: JsonScan;
  readonly value: Readonly<Record<string, unknown>>;
  /** What is left of the request's budget. */
  readonly budget: Budget;
}

/** Limits the memory of parsed bodies. */
export interface ParseRoom {
  /**
   * Called after a body was scanned and before it is parsed.
   * @throws GatewayError if there is no memory for the parsed form.
   */
  takeParsed(body: Uint8Array, members: number, values: number): void;
}

/**
 * Scans and parses a request body once.
 * @param shorten the text that is parsed in place of the body; null if the body is not JSON. Absent: the body itself
 * @throws GatewayError `invalid_body` unless it is a UTF-8 JSON object (RFC 8259 section 8.1: no byte order mark),
 * `too_complex` if it is nested too deeply or has too many values, `duplicate_key`, and the errors of `room`.
 */
export function parseObject(
  body: Buffer,
  watch: WatchedObject,
  room?: ParseRoom,
  shorten?: (body: Buffer) => Buffer | null,
): ParsedObject {
  if (!isUtf8(body)) throw new GatewayError('invalid_body');
  const budget = openBudget(body.length);
  const scan = scanJson(body, watch, budget);
  const text = shorten === undefined ? body : shorten(body);
  if (text === null) throw new GatewayError('invalid_body');
  room?.takeParsed(text, scan.memberCount, scan.valueCount);
  try {
    return { scan, value: JSON.parse(text.toString('utf8')) as Record<string, unknown>, budget };
  } catch (cause) {
    throw new GatewayError('invalid_body', { cause });
  }
}

interface Found {
  readonly members: Map<string, MemberRange>;
  readonly objects: Map<string, ObjectRange>;
  readonly budget: Budget;
}

function scanObject(
  body: Buffer,
  openAt: number,
  watch: WatchedObject,
  depth: number,
  places: Found,
): number {
  const seenKeys = new Set<string>();
  let at = skipSpace(body, openAt + 1);
  const empty = body[at] === closeBrace;
  places.objects.set(watch.path, { start: openAt + 1, empty });
  if (empty) return at + 1;
  for (;;) {
    if (body[at] !== quote) throw new GatewayError('invalid_body');
    const keyStart = at;
    const keyEnd = skipString(body, at);
    if (keyEnd < 0) throw new GatewayError('invalid_body');
    const member = admitKey(keyText(body, keyStart, keyEnd), watch, seenKeys, places.members);
    at = skipSpace(body, keyEnd);
    if (body[at] !== colon) throw new GatewayError('invalid_body');
    const valueStart = skipSpace(body, at + 1);
    const valueEnd =
      member !== null && member.object !== null && body[valueStart] === openBrace
        ? scanObject(body, valueStart, member.object, depth + 1, places)
        : skipValue(body, valueStart, depth, places.budget);
    if (valueEnd < 0) {
      throw new GatewayError(valueEnd === tooComplex ? 'too_complex' : 'invalid_body');
    }
    if (member !== null) places.members.set(member.path, { keyStart, valueStart, valueEnd });
    at = skipSpace(body, valueEnd);
    if (body[at] === closeBrace) return at + 1;
    if (body[at] !== comma) throw new GatewayError('invalid_body');
    at = skipSpace(body, at + 1);
  }
}

/**
 * The watched member that a key names, or null. Upstreams disagree about which of two equal keys counts, and some
 * ignore case, so a body that could be read in two ways is refused.
 */
function admitKey(
  key: string,
  watch: WatchedObject,
  seenKeys: Set<string>,
  members: ReadonlyMap<string, MemberRange>,
): WatchedMember | null {
  if (seenKeys.has(key)) throw duplicateKey(key);
  seenKeys.add(key);
  if (seenKeys.size > maxWatchedMembers) throw new GatewayError('too_complex');
  const member = watch.bySpelling.get(key);
  if (member === undefined) {
    if (watch.byFold.has(watch.fold(key))) throw duplicateKey(key);
    return null;
  }
  if (members.has(member.path)) throw duplicateKey(key);
  return member;
}

function keyText(body: Buffer, start: number, end: number): string {
  for (let i = start + 1; i < end - 1; i += 1) {
    const byte = body[i]!;
    if (byte === 0x5c || byte >= 0x80) return decodedKey(body, start, end);
  }
  return body.toString('latin1', start + 1, end - 1);
}

function decodedKey(body: Buffer, start: number, end: number): string {
  try {
    return String(JSON.parse(body.toString('utf8', start, end)));
  } catch (cause) {
    throw new GatewayError('invalid_body', { cause });
  }
}

/** A member of this name is there twice, or could be read as another one. */
export function duplicateKey(key: string): GatewayError {
  return new GatewayError('duplicate_key', { values: { key }, param: key });
}
