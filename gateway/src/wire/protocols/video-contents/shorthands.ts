import { refuseValue } from '../shared/text/request-values.ts';

/** A command inside a prompt, such as `--duration 5`. */
export interface Shorthand {
  readonly field: Field;
  readonly value: string;
}

/** What it stands for. */
export type Field = 'resolution' | 'duration' | 'frames' | 'ratio' | 'seed' | 'fps';

const fields: ReadonlyMap<string, Field> = new Map([
  ['resolution', 'resolution'],
  ['rs', 'resolution'],
  ['duration', 'duration'],
  ['dur', 'duration'],
  ['frames', 'frames'],
  ['ratio', 'ratio'],
  ['rt', 'ratio'],
  ['seed', 'seed'],
  ['fps', 'fps'],
  ['framespersecond', 'fps'],
]);

export interface ReadText {
  /** Without its shorthands. The same text if it has none. */
  readonly text: string;
  readonly shorthands: readonly Shorthand[];
}

interface Place extends Shorthand {
  readonly start: number;
  /** After the value and the space behind it. */
  readonly end: number;
}

/**
 * Takes the recognised shorthands out of a prompt: two hyphens, or a dash that a text editor made of them, a key in any
 * case, and a value after white space, `=` or `:`. They count wherever they stand, because the upstream's parser may find
 * them there. Unknown ones stay. Linear in the text.
 * @throws GatewayError `invalid_value` for a shorthand without a value
 */
export function readShorthands(text: string, param: string): ReadText {
  const places = findShorthands(text, param);
  if (places.length === 0) return { text, shorthands: [] };
  let rest = '';
  let from = 0;
  for (const { start, end } of places) {
    rest += text.slice(from, start);
    from = end;
  }
  rest = (rest + text.slice(from)).trim();
  // What stood around a shorthand may be one together.
  if (findShorthands(rest, param).length > 0) refuseValue(param, 'has nested shorthands');
  return { text: rest, shorthands: places };
}

function findShorthands(text: string, param: string): Place[] {
  const places: Place[] = [];
  let at = 0;
  while (at < text.length) {
    if (!isDash(text[at]!)) {
      at += 1;
      continue;
    }
    const start = at;
    while (at < text.length && isDash(text[at]!)) at += 1;
    const dashes = text.slice(start, at);
    if (dashes === '-') continue;
    const keyEnd = skip(text, at, isLetter);
    const key = text.slice(at, keyEnd).toLowerCase();
    const field = fields.get(key);
    at = keyEnd;
    if (field === undefined || (at < text.length && !isSeparator(text[at]!))) continue;
    const valueStart = skip(text, at, isSeparator);
    const valueEnd = skip(text, valueStart, (letter) => !isSpace(letter));
    const value = withoutPunctuation(text.slice(valueStart, valueEnd));
    if (value === '') refuseValue(param, `has --${key} without a value`);
    at = skip(text, valueEnd, isSpace);
    places.push({ field, value, start, end: at });
  }
  return places;
}

function skip(text: string, from: number, isPart: (letter: string) => boolean): number {
  let at = from;
  while (at < text.length && isPart(text[at]!)) at += 1;
  return at;
}

/** In a sentence, a value may be followed by a comma. */
function withoutPunctuation(value: string): string {
  let end = value.length;
  while (end > 0 && ',;.'.includes(value[end - 1]!)) end -= 1;
  return value.slice(0, end);
}

/** Hyphens, the dashes that editors make of two of them, and their full-width forms. */
const dashes = new Set('-‐‑‒–—―−－﹣');
const isDash = (letter: string): boolean => dashes.has(letter);
const isSpace = (letter: string): boolean => /\s/.test(letter);
const isSeparator = (letter: string): boolean =>
  letter === '=' || letter === ':' || isSpace(letter);
const isLetter = (letter: string): boolean => /[a-z]/i.test(letter);
