import type { z } from 'zod';
import type { DeclaredKey, DeclaredUser } from './config.ts';
import { check, createReport } from './issues.ts';
import { ConfigError } from './problem.ts';
import { type RawValue, Scalar } from './scalar.ts';
import { key, user } from './schema/account.ts';

/** Settings given as text, named as in the file: `{ user: 'ada@example.com', rpm: '60', models: ['fast'] }`. */
export type TextSettings = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Parses the settings of a key by the rules of the file. The caller checks that the names in it exist.
 * @throws ConfigError whose paths are the names of the settings.
 */
export function parseKeySettings(settings: TextSettings): DeclaredKey {
  return parse(key, settings);
}

/** The settings of a user, in the same way. */
export function parseUserSettings(settings: TextSettings): DeclaredUser {
  return parse(user, settings);
}

function parse<Schema extends z.ZodType>(schema: Schema, settings: TextSettings): z.output<Schema> {
  const raw = Object.entries(settings).flatMap(([name, value]): [string, RawValue][] => {
    if (value === undefined) return [];
    return [
      [
        name,
        typeof value === 'string'
          ? toScalar(name, value)
          : value.map((text) => new Scalar(text, text)),
      ],
    ];
  });
  const report = createReport(null, () => null, []);
  const result = check(schema, Object.fromEntries(raw), [], report);
  if (result === null) throw new ConfigError(report.problems);
  return result;
}

const counts = new Set(['rpm', 'rph', 'max_concurrency']);

function toScalar(name: string, text: string): Scalar {
  if (name === 'cap_output') return new Scalar(text === 'true', text);
  return counts.has(name) && /^\d+$/.test(text)
    ? new Scalar(Number(text), text)
    : new Scalar(text, text);
}
