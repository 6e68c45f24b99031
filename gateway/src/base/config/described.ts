import { z } from 'zod';
import { vendorFacts } from '#vendors/index.ts';
import { camelCase } from './collection.ts';
import type { Config, Origin } from './config.ts';
import { variablesIn } from './expand.ts';
import { leafFacts, type LeafOptions } from './leaf.ts';
import { withoutCredentials } from './network.ts';
import type { Path } from './problem.ts';
import { isAbsent, isMapping, type RawMapping, type RawValue, Scalar } from './scalar.ts';
import { settings } from './settings.ts';

/** One value that can be set. */
export interface Setting extends Pick<LeafOptions, 'secret'> {
  /** Such as `server.port`. */
  readonly name: string;
  readonly path: readonly string[];
  readonly usual: unknown;
  /** The value as a file has it. */
  readonly write: (value: unknown) => unknown;
  /** What is shown of the value; null: nothing. */
  readonly show: ((value: unknown) => unknown) | null;
}

/** Every setting, in the order of the documentation. */
export const allSettings: readonly Setting[] = Object.entries(settings).flatMap(
  ([section, schema]) => settingsIn(schema, [section]),
);

function settingsIn(schema: z.ZodType, path: readonly string[]): Setting[] {
  const facts = leafFacts.get(schema);
  const shape = facts === undefined ? shapeOf(schema) : null;
  if (shape !== null) {
    return Object.entries(shape).flatMap(([key, part]) =>
      settingsIn(part as z.ZodType, [...path, key]),
    );
  }
  const { secret = false, write = same, show = null } = facts ?? {};
  const form = write as Setting['write'];
  return [
    {
      name: path.join('.'),
      path,
      usual: schema.parse(undefined),
      secret,
      write: (value) => (value === null ? null : form(value)),
      show: (show as Setting['show']) ?? (secret ? null : form),
    },
  ];
}

function same(value: unknown): unknown {
  return value;
}

/** The members of a mapping; null: it is something else. */
function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | null {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (!(schema instanceof z.ZodPipe)) return null;
  return shapeOf(schema.in) ?? shapeOf(schema.out);
}

/** The value of a setting, as the code has it. */
export function valueOf(config: Config, { path }: Pick<Setting, 'path'>): unknown {
  let value: unknown = config;
  for (const part of path) {
    value = (value as Readonly<Record<string, unknown>> | null)?.[camelCase(part)];
  }
  return value ?? null;
}

/** A setting in force, as it may be shown. */
export interface ShownSetting {
  readonly name: string;
  /** Null: nothing is set, or nothing is shown of a secret. */
  readonly value: unknown;
  readonly usual: unknown;
  readonly secret: boolean;
  readonly set: boolean;
  /** Null: it has its default. */
  readonly origin: Origin | null;
}

/** All settings with where they are from, and what the gateway takes from the environment alone. Without any secret. */
export function describeSettings(config: Config): ShownSetting[] {
  return [
    ...allSettings.map((setting) => {
      const { name, secret = false, usual } = setting;
      const value = valueOf(config, setting);
      const origin = config.origins[name] ?? null;
      return {
        name,
        value: shown(setting, value),
        usual: shown(setting, usual),
        secret,
        set: value !== null,
        origin,
      };
    }),
    ...fromEnvironment(config),
  ];
}

/** What may be shown of a value of a setting. */
export const shown = ({ show }: Setting, value: unknown): unknown =>
  value === null || show === null ? null : show(value);

function fromEnvironment({ proxies, environmentKeys }: Config): ShownSetting[] {
  const { http, https, direct } = proxies;
  const variables = [
    ['HTTP_PROXY', http && withoutCredentials(http), false],
    ['HTTPS_PROXY', https && withoutCredentials(https), false],
    ['NO_PROXY', direct.length === 0 ? null : direct, false],
    ...environmentKeys.map(
      ({ provider }) => [vendorFacts[provider].environmentKey ?? provider, null, true] as const,
    ),
  ] as const;
  return variables
    .filter(([, value, secret]) => value !== null || secret)
    .map(([name, value, secret]) => ({
      name,
      value,
      usual: null,
      secret,
      set: true,
      origin: { from: 'environment', variables: [name] },
    }));
}

/**
 * The names of the settings that a newly read file changes. They take effect only at a start. The administrator is only
 * created at the first start.
 */
export function changedSettings(running: Config, read: Config): string[] {
  return allSettings
    .filter(
      (setting) =>
        setting.path[0] !== 'admin' &&
        JSON.stringify(valueOf(running, setting)) !== JSON.stringify(valueOf(read, setting)),
    )
    .map(({ name }) => name)
    .toSorted();
}

/**
 * Where the settings are from that the file or the environment sets.
 * @param fileRoot the file
 * @param root the same with what the environment adds
 */
export function originsOf(
  fileRoot: RawMapping,
  root: RawMapping,
  lineOf: (path: Path) => number | null,
): Config['origins'] {
  const origins = allSettings.flatMap(({ name, path }): [string, Origin][] => {
    const value = valueAt(fileRoot, path);
    if (!isUnset(value)) {
      const variables = textsIn(value).flatMap(variablesIn);
      return [[name, { from: 'file', line: lineOf(path) ?? 1, variables }]];
    }
    const added = valueAt(root, path);
    if (!(added instanceof Scalar) || isUnset(added)) return [];
    return [[name, { from: 'environment', variables: variablesIn(added.source) }]];
  });
  return Object.fromEntries(origins);
}

/** An empty string counts as omitted. */
const isUnset = (value: RawValue) =>
  isAbsent(value) || (value instanceof Scalar && value.value === '');

function valueAt(root: RawMapping, path: readonly string[]): RawValue {
  let value: RawValue = root;
  for (const part of path) value = isMapping(value) ? value[part] : undefined;
  return value;
}

function textsIn(value: RawValue): string[] {
  if (value instanceof Scalar) return value.expanded ? [value.source] : [];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isMapping(value) ? Object.values(value).flatMap(textsIn) : [];
}
