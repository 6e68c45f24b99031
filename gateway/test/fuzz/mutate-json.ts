import { sizeOf } from './mutate-bytes.ts';
import { pieces } from './pieces.ts';
import type { Random } from './random.ts';

type Holder = Record<string, unknown>;
interface Place {
  readonly holder: Holder;
  readonly key: string;
}

/** Deeper than any limit of ours, and no deeper than `JSON.stringify` bears. */
const deepest = 1500;

/**
 * Another JSON text made of this one: members replaced, left out, repeated, exchanged, and grown in breadth, depth or
 * length. @param other valid JSON to take members from.
 */
export function mutateJson(random: Random, text: string, other: string, longest: number): string {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return text;
  }
  if (!isHolder(root)) return text;
  const room = Math.max(64, longest - text.length);
  if (random.oneIn(6)) flood(random, root, room);
  else for (let round = random.below(4); round >= 0; round -= 1) change(random, root, other, room);
  const changed = written(root);
  return changed === null || changed.length > longest ? text : changed;
}

/** Null for what is nested too deep to be written. */
function written(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

function change(random: Random, root: Holder, other: string, room: number): void {
  const place = placeIn(random, root);
  if (place === null) return;
  const { holder, key } = place;
  switch (random.below(11)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      return;
    case 1:
      holder[key] = oddValue(random);
      return;
    case 2: {
      const from = placeIn(random, root);
      if (from !== null) holder[key] = structuredClone(from.holder[from.key]);
      return;
    }
    case 3: {
      const foreign: unknown = JSON.parse(other);
      const from = isHolder(foreign) ? placeIn(random, foreign) : null;
      if (from !== null) holder[random.oneIn(2) ? key : from.key] = from.holder[from.key];
      return;
    }
    case 4:
      holder[key] = nested(random, holder[key]);
      return;
    case 5:
      return multiply(random, place, room);
    case 6:
    case 7:
      holder[key] = longText(random, room);
      return;
    case 8:
      holder[key] = textOf(random, holder[key]);
      return;
    case 9:
      rename(random, place);
      return;
    default:
      holder[key] = schemaLike(random, room);
  }
}

/** A member somewhere below, deep ones as likely as others. */
function placeIn(random: Random, root: Holder): Place | null {
  let holder = root;
  for (;;) {
    const keys = Object.keys(holder);
    if (keys.length === 0) return null;
    const key = random.pick(keys);
    const inner = holder[key];
    if (!isHolder(inner) || Object.keys(inner).length === 0 || random.oneIn(5)) {
      return { holder, key };
    }
    holder = inner;
  }
}

/** Members whose value decides how the others are read. */
const deciding: ReadonlySet<string> = new Set(['type', 'role', 'model', 'mode', 'kind']);

/** Many texts at once become long runs of one piece: whichever of them is read slowly shows. */
function flood(random: Random, root: Holder, room: number): void {
  const places = textsIn(root).filter(({ key }) => !deciding.has(key) && random.oneIn(2));
  const share = Math.floor(room / Math.max(1, places.length));
  const piece = random.pick(pieces);
  for (const { holder, key } of places) {
    const text = run(piece, share);
    const start = random.oneIn(3) ? '' : random.pick([String(holder[key]), random.pick(pieces)]);
    holder[key] = start.slice(0, share) + text + random.pick(['', random.pick(pieces)]);
  }
}

function textsIn(holder: Holder, found: Place[] = []): Place[] {
  for (const [key, value] of Object.entries(holder)) {
    if (typeof value === 'string') found.push({ holder, key });
    else if (isHolder(value)) textsIn(value, found);
  }
  return found;
}

/** The piece repeated to this many bytes of JSON. */
function run(piece: string, bytes: number): string {
  const cost = Buffer.byteLength(JSON.stringify(piece)) - 2;
  return piece.repeat(Math.floor(Math.max(0, bytes) / Math.max(1, cost)));
}

function oddValue(random: Random): unknown {
  return random.pick<() => unknown>([
    () => null,
    () => true,
    () => random.below(2 ** 31) - 2 ** 30,
    () => 0.1,
    () => 2 ** 60,
    () => '',
    () => random.pick(pieces),
    () => [],
    () => ({}),
    () => [null],
    () => ({ type: random.pick(pieces) }),
    () => JSON.parse('{"__proto__":{"type":"text"},"constructor":1}') as unknown,
  ])();
}

function nested(random: Random, value: unknown): unknown {
  let inner = value;
  const key = random.pick(['a', 'items', 'properties', 'content', 'anyOf', 'input', 'output']);
  const isList = random.oneIn(2);
  for (let depth = random.below(random.oneIn(3) ? deepest : 40); depth > 0; depth -= 1) {
    inner = isList ? [inner] : { [key]: inner };
  }
  return inner;
}

/** The member many times: as elements, or under other keys. */
function multiply(random: Random, { holder, key }: Place, room: number): void {
  const size = (written(holder[key])?.length ?? room) + 8;
  const count = Math.floor(sizeOf(random, room) / size);
  for (let index = 0; index < count; index += 1) {
    // The same object stands many times: it is written out, not changed.
    if (Array.isArray(holder)) holder.push(holder[Number(key)]);
    else holder[`${key}${index}`] = holder[key];
  }
}

function longText(random: Random, room: number): string {
  const text = run(random.pick(pieces), sizeOf(random, room));
  return random.pick(['', random.pick(pieces)]) + text + random.pick(['', random.pick(pieces)]);
}

/** The value as JSON text inside a string, which other parsers open again. */
function textOf(random: Random, value: unknown): unknown {
  const text = written(value) ?? '';
  return random.oneIn(3) ? text.slice(0, random.below(text.length + 1)) : text;
}

function rename(random: Random, { holder, key }: Place): void {
  if (Array.isArray(holder)) return void holder.unshift(holder.pop());
  const value = holder[key];
  delete holder[key];
  const other = random.oneIn(2)
    ? random.pick(pieces)
    : random.pick(Object.keys(holder).concat(key));
  if (other !== '__proto__') holder[random.pick([other, key.toUpperCase(), `${key}_`])] = value;
}

/** Schemas that name one another, as wide and as deep as there is room. */
function schemaLike(random: Random, room: number): unknown {
  const count = 1 + Math.floor(sizeOf(random, Math.min(room, 16_384)) / 64);
  const definitions: Holder = {};
  for (let index = 0; index < count; index += 1) {
    const next = { $ref: `#/$defs/d${random.oneIn(20) ? random.below(count) : index + 1}` };
    definitions[`d${index}`] = random.pick<unknown>([
      next,
      { type: 'object', properties: { a: next, b: next }, required: ['a'] },
      { anyOf: [next, next, { type: 'null' }] },
      { allOf: [next, { type: 'object', properties: { c: next } }] },
      { type: 'array', items: next, minItems: index },
      { type: ['string', 'null'], enum: ['x', null, index] },
    ]);
  }
  return { type: 'object', properties: { first: { $ref: '#/$defs/d0' } }, $defs: definitions };
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null;
}
