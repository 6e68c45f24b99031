import { GatewayError } from '#errors/index.ts';
import {
  isAbsent,
  isRecord,
  isWritable,
  type JsonRecord,
  writableRule,
} from '../../../shared/values.ts';

/** A 400 about one member of the request. `param` is its path, as the client would write it. */
export function invalid(param: string, rule: string): GatewayError {
  return new GatewayError('invalid_value', { values: { reason: `${param} ${rule}` }, param });
}

/** @throws GatewayError `invalid_value`. */
export function readString(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  throw invalid(param, 'must be a string');
}

/** An absent object is empty. @throws GatewayError `invalid_value` for anything else. */
export function readRecord(value: unknown, param: string): JsonRecord {
  if (isAbsent(value)) return {};
  if (isRecord(value)) return value;
  throw invalid(param, 'must be an object');
}

/** An absent list is empty. @throws GatewayError `invalid_value` for anything else. */
export function readList(value: unknown, param: string): readonly unknown[] {
  if (isAbsent(value)) return [];
  if (Array.isArray(value)) return value;
  throw invalid(param, 'must be an array');
}

/** Null if absent. @throws GatewayError `invalid_value` for anything but a number that survives being written again. */
export function readNumber(value: unknown, param: string): number | null {
  if (isAbsent(value)) return null;
  if (isWritable(value)) return value;
  throw invalid(param, writableRule);
}
