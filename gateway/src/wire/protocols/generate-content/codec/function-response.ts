import type { Block, ToolResultBlock } from '#canonical/index.ts';
import { isExactRecord, parseExact } from '../../shared/exact-json.ts';
import type { JsonRecord } from '../../shared/values.ts';

/**
 * This protocol's results are objects; those of all others are text. An object whose only member is a text under one of
 * the customary names becomes that text. Any other becomes its JSON.
 */
export function readResult(response: JsonRecord): {
  readonly text: string;
  readonly isError: boolean;
} {
  const names = Object.keys(response);
  const [name] = names;
  if (names.length === 1 && name !== undefined) {
    const value = response[name];
    if (name === 'error') {
      return { text: typeof value === 'string' ? value : JSON.stringify(value), isError: true };
    }
    if ((name === 'output' || name === 'result') && typeof value === 'string') {
      return { text: value, isError: false };
    }
  }
  return { text: JSON.stringify(response), isError: false };
}

export function writeResult(block: ToolResultBlock): JsonRecord {
  if (block.object !== undefined) return block.object;
  const text = block.content.map(textOf).filter(Boolean).join('\n');
  return block.isError ? { error: text } : { output: text };
}

function textOf(block: Block): string {
  if (block.type === 'text' || block.type === 'refusal') return block.text;
  return block.type === 'opaque' ? (block.text ?? '') : '';
}

/** The arguments of a call where an object is required. */
export interface CallArguments {
  readonly args: JsonRecord;
  /** The text was not JSON and travels unchanged. */
  readonly broken: boolean;
}

export function readArguments(text: string): CallArguments {
  if (text.trim() === '') return { args: {}, broken: false };
  try {
    const value: unknown = parseExact(text);
    return { args: isExactRecord(value) ? value : { value }, broken: false };
  } catch {
    return { args: { raw_arguments: text }, broken: true };
  }
}
