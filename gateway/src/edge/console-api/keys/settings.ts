import type { ChangedSettings, KeySettings } from '#administration/index.ts';
import { ConfigError, kinds, parseEntry } from '#config/index.ts';
import { ApiError } from '../errors.ts';

/** Settings of a key as JSON, named as in the file; null: as if it were absent. */
type Given = Readonly<
  Record<string, string | number | boolean | readonly string[] | null | undefined>
>;

/**
 * Reads settings by the rules of the file.
 * @throws ApiError `invalid` with every problem
 */
export function readSettings(given: Given): KeySettings {
  const texts = Object.entries(given).map(([name, value]) => [name, textOf(value)]);
  try {
    const { secret: _, ...settings } = parseEntry(kinds.key, Object.fromEntries(texts));
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

const names = {
  team: 'team',
  group: 'group',
  models: 'models',
  quota: 'quota',
  expires_at: 'expiresAt',
  ips: 'ips',
  rpm: 'rpm',
  rph: 'rph',
  max_concurrency: 'maxConcurrency',
  conversion: 'conversion',
  cap_output: 'capOutput',
} as const satisfies Record<string, keyof ChangedSettings>;

/**
 * Reads those settings that are given, by the rules of the file; null: the setting is taken away.
 * @throws ApiError `invalid` with every problem
 */
export function readChanges(
  key: Pick<KeySettings, 'name' | 'user'>,
  { enabled, ...given }: Given & { readonly enabled?: boolean | undefined },
): ChangedSettings {
  const all = readSettings({ ...given, name: key.name, user: key.user });
  const changes = Object.entries(names)
    .filter(([name]) => given[name] !== undefined)
    .map(([, setting]) => [setting, all[setting]]);
  // In the file a key is enabled by being there.
  return { ...Object.fromEntries(changes), ...(enabled !== undefined && { enabled }) };
}

function textOf(value: Given[string]): string | readonly string[] | undefined {
  if (value === null) return undefined;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}
