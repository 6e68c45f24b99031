import { GatewayError } from '#errors/index.ts';
import { isAbsent, isRecord, isWritable, type JsonRecord, writableRule } from '../values.ts';

/**
 * Readers of the values that the gateway acts on. Every value may be null, as in the real protocols. An error names
 * the field that the client has to correct.
 */

/**
 * A 400 about one member of the request.
 * @param param its path, as the client would write it
 * @param rule completes the sentence that begins with the path
 */
export function invalid(param: string, rule: string): GatewayError {
  return new GatewayError('invalid_value', { values: { reason: `${param} ${rule}` }, param });
}

/** @throws GatewayError `invalid_value`, always. */
export function refuseValue(param: string, rule: string): never {
  throw invalid(param, rule);
}

/** Null if absent. @throws GatewayError `invalid_value` for anything but a number that survives being written again. */
export function readNumber(value: unknown, param: string): number | null {
  if (isAbsent(value)) return null;
  if (isWritable(value)) return value;
  throw invalid(param, writableRule);
}

/** Null if absent. @throws GatewayError `invalid_value` for anything but a text. */
export function readString(value: unknown, param: string): string | null {
  return isAbsent(value) ? null : requireString(value, param);
}

/** @throws GatewayError `invalid_value` for anything but a text. */
export function requireString(value: unknown, param: string): string {
  if (typeof value === 'string') return value;
  throw invalid(param, 'must be a string');
}

/** Null if absent. @throws GatewayError `invalid_value` for anything but an object. */
export function readRecord(value: unknown, param: string): JsonRecord | null {
  return isAbsent(value) ? null : requireRecord(value, param);
}

/** @throws GatewayError `invalid_value` for anything but an object. */
export function requireRecord(value: unknown, param: string): JsonRecord {
  if (isRecord(value)) return value;
  throw invalid(param, 'must be an object');
}

/** Empty if absent. @throws GatewayError `invalid_value` for anything but a list. */
export function readList(value: unknown, param: string): readonly unknown[] {
  if (isAbsent(value)) return [];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw invalid(param, 'must be an array');
}

/** @throws GatewayError `model_required`. */
export function readModel(value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new GatewayError('model_required', { param: 'model' });
}

/** @throws GatewayError `missing_parameter` if all values are absent. */
export function requireOneOf(values: readonly unknown[], param: string): void {
  if (values.every(isAbsent)) {
    throw new GatewayError('missing_parameter', { values: { param }, param });
  }
}

/** @throws GatewayError `missing_parameter` if the value is absent, `invalid_value` if it is not a list. */
export function requireList(value: unknown, param: string): void {
  if (Array.isArray(value)) return;
  requireOneOf([value], param);
  throw invalid(param, 'must be a list');
}

/** @throws GatewayError `invalid_value`. */
export function readFlag(value: unknown, param: string): boolean {
  if (isAbsent(value)) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(param, 'must be a boolean');
}

/**
 * Reads a count that bounds holds and charges, so it must be exact: an integer from `least` to 2^53 - 1.
 * @throws GatewayError `invalid_value`.
 */
export function readCount(value: unknown, param: string, least: 0 | 1): number | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  throw invalid(param, `must be an integer of at least ${least}`);
}

/** @throws GatewayError `invalid_value`. */
export function checkRange(value: unknown, param: string, from: number, to: number): void {
  if (isAbsent(value)) return;
  if (typeof value === 'number' && value >= from && value <= to) return;
  throw invalid(param, `must be a number from ${from} to ${to}`);
}

/** A word of the client's, for an error that refuses it. */
export function quoted(word: unknown): string {
  return typeof word === 'string' ? `'${word.slice(0, 64)}'` : 'another value';
}

/** What the output may consist of besides text. */
export interface OutputKinds {
  readonly image: boolean;
  readonly audio: boolean;
}

/**
 * What a response may consist of by the modalities that the request lists. Without a list, models that can draw may, and
 * none speaks.
 * @param speaks the request says how its response is to sound
 */
export function readOutputKinds(modalities: unknown, speaks: boolean): OutputKinds {
  if (!Array.isArray(modalities) || modalities.length === 0) return { image: true, audio: speaks };
  const wantedKinds = new Set(modalities.map((name) => String(name).toLowerCase()));
  return { image: wantedKinds.has('image'), audio: wantedKinds.has('audio') };
}
