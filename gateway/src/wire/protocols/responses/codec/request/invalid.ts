import { GatewayError } from '#errors/index.ts';
import { isAbsent, isRecord, isWritable, type JsonRecord, writableRule } from '../../../values.ts';

/** What a request says at one place has no meaning. `param` is where, as the client would write it. */
export function invalid(param: string, rule: string): GatewayError {
  return new GatewayError('invalid_value', { values: { reason: `${param} ${rule}` }, param });
}

/** @throws GatewayError `invalid_value`. */
export function readString(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  throw invalid(param, 'must be a string');
}

/** @throws GatewayError `invalid_value` for anything but an object; absent is an empty one. */
export function readRecord(value: unknown, param: string): JsonRecord {
  if (isAbsent(value)) return {};
  if (isRecord(value)) return value;
  throw invalid(param, 'must be an object');
}

/** @throws GatewayError `invalid_value` for anything but a list; absent is an empty one. */
export function readList(value: unknown, param: string): readonly unknown[] {
  if (isAbsent(value)) return [];
  if (Array.isArray(value)) return value;
  throw invalid(param, 'must be an array');
}

/** @throws GatewayError `invalid_value` for anything but a number that can be written again; null when absent. */
export function readNumber(value: unknown, param: string): number | null {
  if (isAbsent(value)) return null;
  if (isWritable(value)) return value;
  throw invalid(param, writableRule);
}
