import { parseDocument, visit } from 'yaml';
import { ExactNumber, isExactMapping, type ExactMapping } from '../../price-lists/index.ts';
import { isBracketedTooDeeply } from '#config/index.ts';

/**
 * Parses YAML and keeps numbers as written: `1.5e-07` is a price.
 * @throws Error with a message if it is not YAML. The message never contains the text.
 */
export function parseExactYaml(text: string): unknown {
  if (isBracketedTooDeeply(text)) throw tooDeep();
  try {
    return exactValue(text);
  } catch (error) {
    // The parser recurses, and blocks can be nested without brackets.
    if (error instanceof RangeError) throw tooDeep();
    if (error instanceof ReferenceError) throw lostAlias();
    throw error;
  }
}

// Without their causes, which quote the file.
const tooDeep = (): Error => new Error('the file is nested too deeply');
const lostAlias = (): Error => new Error('an alias of the file cannot be followed');

function exactValue(text: string): unknown {
  const document = parseDocument(text, { merge: true, prettyErrors: false, logLevel: 'silent' });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw new Error(`line ${line} is not valid YAML (${error.code})`);
  }
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'number')
        node.value = new ExactNumber(node.source ?? String(node.value));
    },
  });
  return document.toJS();
}

/** The mapping at `key`, or an empty one. */
export function mappingAt(mapping: ExactMapping, key: string): ExactMapping {
  const value = mapping[key];
  return isExactMapping(value) ? value : {};
}

/** The name of the variable that the text refers to, in LiteLLM's spelling; null if the text is the value itself. */
export function environmentName(text: string): string | null {
  return /^os\.environ\/([A-Za-z_]\w*)$/.exec(text)?.[1] ?? null;
}

/** A text without surrounding space, or a number as written; null for anything else. */
export function textOf(value: unknown): string | null {
  if (value instanceof ExactNumber) return value.source;
  return typeof value === 'string' ? value.trim() : null;
}

/** A number ≥ 0, also one written as text; null for anything else. */
export function numberOf(value: unknown): number | null {
  const text = textOf(value);
  const number = text === null || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) && number >= 0 ? number : null;
}
