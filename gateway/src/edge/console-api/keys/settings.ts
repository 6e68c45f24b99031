import type { KeySettings } from '#administration/index.ts';
import { ConfigError, parseKeySettings } from '#config/index.ts';
import { ApiError } from '../errors.ts';

/** Settings of a key as JSON, named as in the file; null: as if it were absent. */
type Given = Readonly<Record<string, string | number | readonly string[] | null | undefined>>;

/**
 * Reads settings by the rules of the file.
 * @throws ApiError `invalid` with every problem
 */
export function readSettings(given: Given): KeySettings {
  const texts = Object.entries(given).map(([name, value]) => [name, textOf(value)]);
  try {
    const { secret: _, ...settings } = parseKeySettings(Object.fromEntries(texts));
    return settings;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const fields = error.problems.map(({ path, expected, got }) => ({
      path,
      message: `expected ${expected}, got ${got}`,
    }));
    const [first] = fields;
    const more = fields.length > 1 ? `, and ${fields.length - 1} more` : '';
    throw new ApiError('invalid', `${first?.path}: ${first?.message}${more}`, { fields });
  }
}

function textOf(value: Given[string]): string | readonly string[] | undefined {
  if (value === null) return undefined;
  return typeof value === 'number' ? String(value) : value;
}
