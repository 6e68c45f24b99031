import { GatewayError } from '#errors/index.ts';
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  maxDepth,
  openBrace,
  openBracket,
  quote,
  skipString,
} from './skip.ts';

/**
 * The work that one request may still cause. Everything that reads, rewrites or converts it draws from the same budget,
 * so that many small pieces cost no more than a large one. Plain data: it is copied and travels between threads.
 */
export interface Budget {
  /** Members of objects, in the body and in strings that contain JSON. */
  members: number;
  /** Objects, lists, and elements after the first. */
  values: number;
  /** Schemas visited while they are written in another dialect, where references multiply them. */
  schemas: number;
  /** Characters written for schemas. */
  output: number;
}

/**
 * More members than even the largest context needs. `JSON.parse` takes most of a second for a million different keys,
 * and blocks everybody else meanwhile.
 */
const maxMembers = 262_144;

/**
 * The same for lists and their elements: numbers are cheaper to parse than keys, but millions of empty lists are not.
 */
const maxValues = 1_048_576;

/** A meaningful schema takes at least this many bytes. Expanded, the schemas of one tool may refer to each other. */
const bytesPerSchema = 8;
const leastSchemas = 20_000;
/** Bytes written per byte received. */
const maxGrowth = 2;
const leastOutput = 4 * 1024 * 1024;

/** @param bytes size of the request's body */
export function openBudget(bytes: number): Budget {
  return {
    members: maxMembers,
    values: maxValues,
    schemas: leastSchemas + Math.floor(bytes / bytesPerSchema),
    output: leastOutput + maxGrowth * bytes,
  };
}

/**
 * Responses contain log probabilities, several numbers for each of a hundred thousand words; the operator chose who
 * sends them.
 */
function openResponseBudget(): Budget {
  return { members: 4 * maxMembers, values: 4 * maxValues, schemas: 0, output: 0 };
}

/** @throws GatewayError `too_complex` if less than `amount` is left. */
export function draw(budget: Budget, what: keyof Budget, amount = 1): void {
  budget[what] -= amount;
  if (budget[what] < 0) throw new GatewayError('too_complex');
}

/** JSON this short is neither deep nor has many values. */
const shortBytes = 2 * maxDepth;

/**
 * Draws what parsing a text will create. The text need not be JSON.
 * @param drawnBudget absent: the text is a response or a part of one, which have a budget each
 * @returns false if it is nested too deeply, or exceeds the budget
 */
export function drawJson(json: Buffer, drawnBudget?: Budget): boolean {
  if (json.length < shortBytes) return true;
  const budget = drawnBudget ?? openResponseBudget();
  let depth = 0;
  let at = 0;
  let members = 0;
  let values = 0;
  while (at < json.length) {
    const byte = json[at]!;
    if (byte === quote) {
      at = skipString(json, at);
      if (at < 0) break;
      continue;
    }
    if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > maxDepth) return false;
      values += 1;
    } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    else if (byte === comma) values += 1;
    else if (byte === colon) members += 1;
    at += 1;
  }
  budget.members -= members;
  budget.values -= values;
  return budget.members >= 0 && budget.values >= 0;
}

/**
 * Whether a text contains more members, values, objects and lists than `most`, counted by the separators between them.
 * It need not be JSON. Linear in the bytes, and usually ends early for dense text.
 */
export function holdsMoreThan(json: Buffer, most: number): boolean {
  if (json.length <= most) return false;
  let count = 0;
  for (let at = 0; at < json.length && count <= most;) {
    const byte = json[at]!;
    if (byte === quote) {
      const end = skipString(json, at);
      if (end < 0) break;
      at = end;
      continue;
    }
    if (byte === comma || byte === colon || byte === closeBrace || byte === closeBracket) {
      count += 1;
    }
    at += 1;
  }
  return count > most;
}
