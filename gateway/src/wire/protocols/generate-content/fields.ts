import { isAbsent, isRecord, type JsonRecord } from '../shared/values.ts';
import type { Extension, Extensions } from '#canonical/index.ts';
import type { Losses } from '../shared/text/losses.ts';
import { invalid } from '../shared/text/request-values.ts';

/**
 * Readers of members. The protocol is proto3 JSON, which allows `camelCase` and `snake_case` for every member
 * (https://protobuf.dev/programming-guides/json/). Responses always use camelCase.
 */
const snakeNames = new Map<string, string>();

/** The member by its camelCase name, in either spelling. Null counts as absent. */
export function member(record: JsonRecord, name: string): unknown {
  const value = record[name] ?? record[snakeCase(name)];
  return value === null ? undefined : value;
}

function snakeCase(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The object's unknown members, under their camelCase names. */
export function otherMembers(
  record: JsonRecord,
  knownMembers: ReadonlySet<string>,
): readonly (readonly [string, unknown])[] {
  return Object.entries(record)
    .filter(([name, value]) => value !== null && !knownMembers.has(camelCase(name)))
    .map(([name, value]) => [camelCase(name), value] as const);
}

/** A repeated member. A single object stands for a list of one. @throws GatewayError `invalid_value`. */
export function readRecords(value: unknown, param: string): readonly JsonRecord[] {
  if (isAbsent(value)) return [];
  if (isRecord(value)) return [value];
  if (Array.isArray(value) && value.every(isRecord)) return value;
  throw invalid(param, 'must be an array of objects');
}

/** @throws GatewayError `invalid_value`. */
export function readStrings(value: unknown, param: string): readonly string[] {
  if (isAbsent(value)) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw invalid(param, 'must be an array of strings');
}

/** Sets a value at a dotted path, and creates the objects on the way. */
export function setPath(target: Record<string, unknown>, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? path;
  let at = target;
  for (const name of names) {
    const inner = at[name];
    const next: Record<string, unknown> = isRecord(inner) ? { ...inner } : {};
    at[name] = next;
    at = next;
  }
  at[last] = value;
}

/** `models/<id>`, unless the name has a collection (`tunedModels/x`). */
export function resourceName(model: string): string {
  return model.includes('/') ? model : `models/${model}`;
}

type ForeignHandling = Extension['ifForeign'];

/** Members that only this protocol has, with names dotted from their object. */
export function ownExtensions(
  members: readonly (readonly [string, unknown])[],
  prefix = '',
  handlingOf: (name: string, value: unknown) => ForeignHandling = () => 'drop',
): Extensions {
  return members.map(([name, value]) => ({
    protocol: 'generate-content',
    name: prefix + name,
    value,
    // Some clients fill unused members.
    ifForeign: isEmpty(value) ? 'ignore' : handlingOf(name, value),
  }));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * Restores this protocol's members to their places, and reports those of other protocols.
 * @throws Unconvertible for a foreign one that must not be dropped.
 */
export function restoreExtensions(
  target: Record<string, unknown>,
  extensions: Extensions | undefined,
  losses: Losses,
): void {
  for (const extension of extensions ?? []) {
    if (extension.protocol === 'generate-content') setPath(target, extension.name, extension.value);
    else losses.ofClient(extension.name, extension.ifForeign);
  }
}
