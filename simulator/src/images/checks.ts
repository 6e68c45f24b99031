import { isPresent, type JsonObject } from '../json.ts';
import { checkNumber, wrongType, wrongValue } from '../openai/protocol.ts';
import { Rejection } from '../rejection.ts';

/** Checks one member that is present. @throws Rejection */
export type Check = (param: string, value: unknown) => void;
export type Checks = Readonly<Record<string, Check>>;

/** Checks every member. Null counts as absent, and a member without a check is unknown. */
export function checkMembers(body: JsonObject, checks: Checks): void {
  for (const [param, value] of Object.entries(body)) {
    const check = Object.hasOwn(checks, param) ? checks[param] : undefined;
    if (check === undefined) throw unknownParameter(param);
    if (isPresent(value)) check(param, value);
  }
}

export function unknownParameter(param: string): Rejection {
  return new Rejection(400, `Unknown parameter: '${param}'.`, { param, code: 'unknown_parameter' });
}

export function oneOf(...allowed: readonly string[]): Check {
  return (param, value) => {
    if (typeof value !== 'string') throw wrongType(param, 'a string', value);
    if (!allowed.includes(value)) throw wrongValue(param, value, allowed);
  };
}

export function integer(least: number, most: number): Check {
  return (param, value) => checkNumber(param, value, 'integer', least, most);
}

export const boolean: Check = (param, value) => {
  if (typeof value !== 'boolean') throw wrongType(param, 'a boolean', value);
};

export function text(longest = Number.POSITIVE_INFINITY): Check {
  return (param, value) => {
    if (typeof value !== 'string') throw wrongType(param, 'a string', value);
    if (value.length <= longest) return;
    throw new Rejection(
      400,
      `Invalid '${param}': string too long. Expected a string with maximum length ${longest}, but got a string with length ${value.length} instead.`,
      { param, code: 'string_above_max_length' },
    );
  };
}

/** For members whose check needs others beside them. */
export const anything: Check = () => undefined;
