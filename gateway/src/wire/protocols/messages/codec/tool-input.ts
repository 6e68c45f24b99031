import { isExactRecord, parseExact } from '../../shared/exact-json.ts';
import type { JsonRecord } from '../../shared/values.ts';

interface ToolInput {
  readonly input: JsonRecord;
  /** The text was not a JSON object and was wrapped in one. */
  readonly wrapped: boolean;
}

/** Arguments as an object, which this protocol requires. Anything else is wrapped in one. */
export function toolInput(text: string): ToolInput {
  if (text.trim() === '') return { input: {}, wrapped: false };
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    return { input: { raw_arguments: text }, wrapped: true };
  }
  if (isExactRecord(value)) return { input: value, wrapped: false };
  return value === null ? { input: {}, wrapped: false } : { input: { value }, wrapped: true };
}
