import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config, Declared } from './config.ts';
import { listKeys, readDeclared } from './declared.ts';
import { originsOf } from './described.ts';
import { type ConfigDocument, readDocument } from './document.ts';
import { environmentDefaults, providerKeys, readProxies } from './environment.ts';
import type { Environment } from './expand.ts';
import {
  check,
  createReport,
  type Report,
  reportUnknownKey,
  ConfigError,
  type ConfigProblem,
} from './problem.ts';
import { isPostgresUrl } from './network.ts';
import { isAbsent, isMapping, type RawMapping, type RawValue, Scalar } from './scalar.ts';
import { settings } from './settings.ts';

export interface LoadOptions {
  /** `--config`; then `SLUICE_CONFIG`, then `./sluice.yaml` when it exists, then no file. */
  readonly path?: string | null | undefined;
  /** Ids of the bundled catalogue; channels, aliases and keys may name them without declaring them. */
  readonly bundledModels?: Iterable<string>;
  /** Aliases of bundled models; channels and keys may name them too. */
  readonly bundledAliases?: Iterable<string>;
  /** Default: the environment of the process. */
  readonly environment?: Environment;
  /** The base of relative paths. Default: the working directory of the process. */
  readonly workingDirectory?: string;
}

const largestFile = 64 * 2 ** 20;

/**
 * Reads, expands and checks the configuration.
 * @throws ConfigError with every problem of the file.
 */
export function loadConfig(options: LoadOptions = {}): Config {
  const environment = options.environment ?? process.env;
  const workingDirectory = options.workingDirectory ?? process.cwd();
  const file = findConfigFile(options.path, environment, workingDirectory);
  const text = file === null ? '' : readText(file, workingDirectory);
  return parseConfig(text, { ...options, environment, workingDirectory, file });
}

/** The file to read, as the user named it; null: the embedded defaults. */
export function findConfigFile(
  path: string | null | undefined,
  environment: Environment,
  workingDirectory: string,
): string | null {
  const namedPath = path ?? environment['SLUICE_CONFIG'];
  if (namedPath !== undefined && namedPath !== '') return namedPath;
  const usual = 'sluice.yaml';
  const stats = statSync(resolve(workingDirectory, usual), { throwIfNoEntry: false });
  return stats?.isFile() === true ? usual : null;
}

/**
 * Checks text that has already been read. `file` is its name in messages; null: the text is the embedded defaults.
 * @throws ConfigError with every problem.
 */
export function parseConfig(
  text: string,
  options: Omit<LoadOptions, 'path'> & { readonly file: string | null },
): Config {
  const environment = options.environment ?? process.env;
  const workingDirectory = options.workingDirectory ?? process.cwd();
  const { file } = options;
  const document = readDocument(text, file, { environment, workingDirectory });
  const report = createReport(file, document.lineOf, [...document.problems]);
  if (!document.readable) throw new ConfigError(report.problems);
  const { root, lineOf } = document;
  return checkRoot(root, report, lineOf, { ...options, environment, workingDirectory });
}

/**
 * Checks the content of a file.
 * @throws ConfigError with every problem
 */
export function checkRoot(
  fileRoot: RawMapping,
  report: Report,
  lineOf: ConfigDocument['lineOf'],
  options: Omit<LoadOptions, 'path' | 'environment' | 'workingDirectory'> & {
    readonly file: string | null;
    readonly environment: Environment;
    readonly workingDirectory: string;
  },
): Config {
  const { file, environment, workingDirectory } = options;
  const root = withEnvironmentDefaults(fileRoot, environment);
  const parts = readSettings(root, report);
  const declared = readDeclared(root, report, {
    bundledModels: new Set(options.bundledModels ?? []),
    bundledAliases: new Set(options.bundledAliases ?? []),
    adminEmail: parts.admin?.email ?? null,
  });
  checkTogether(parts, report);
  const proxies = readProxies(environment, report.problems);
  if (report.problems.length > 0) throw new ConfigError(inOrder(report.problems));
  return assemble(parts as CompleteSettings, file === null ? null : declared, {
    file,
    listsDigest: file === null ? null : digestOfLists(fileRoot),
    origins: originsOf(fileRoot, root, lineOf),
    lines: file === null ? {} : linesOf(declared, lineOf),
    environment,
    workingDirectory,
    proxies,
  });
}

type CompleteSettings = { [Key in keyof typeof settings]: NonNullable<PartialSettings[Key]> };
type PartialSettings = {
  [Key in keyof typeof settings]: ReturnType<(typeof settings)[Key]['parse']> | null;
};

function readSettings(root: RawMapping, report: Report): PartialSettings {
  const sections = Object.keys(settings) as (keyof typeof settings)[];
  const knownKeys = [...sections, ...listKeys];
  for (const key of Object.keys(root)) {
    if (!(knownKeys as string[]).includes(key)) reportUnknownKey([key], knownKeys, report);
  }
  const parts = sections.map((key) => [key, check(settings[key], root[key], [key], report)]);
  return Object.fromEntries(parts) as PartialSettings;
}

/** Rules that span several settings. A rule is skipped if one of its settings has a problem of its own. */
function checkTogether(parts: PartialSettings, report: Report): void {
  const { server, storage, video, oidc } = parts;
  if (oidc !== null) checkOidc(oidc, server, report);
  if (server !== null && (server.tls.cert === null) !== (server.tls.key === null)) {
    const missingKey = server.tls.cert === null ? 'cert' : 'key';
    report(['server', 'tls', missingKey], 'both cert and key, or neither', 'nothing');
  }
  if (video?.keepResults === true) {
    if (server !== null && server.publicUrl === null) {
      report(
        ['server', 'public_url'],
        'the address for links, as video.keep_results is on',
        'nothing',
      );
    }
    for (const [name, value] of [
      ['access_key_id', video.s3.accessKeyId],
      ['secret_access_key', video.s3.secretAccessKey],
    ] as const) {
      if (!video.storageUrl.startsWith('s3://') || value !== null) continue;
      report(['video', 's3', name], 'what signs the calls to video.storage_url', 'nothing');
    }
  }
  if (server === null || server.workers === 1) return;
  if (storage !== null && !isPostgresUrl(storage.url)) {
    report(['server', 'workers'], '1 unless storage.url is a postgres URL', String(server.workers));
  }
}

/** What a sign-in at a provider needs. */
function checkOidc(
  { issuer, clientId, scopes, roleClaim, roleMap, only }: CompleteSettings['oidc'],
  server: PartialSettings['server'],
  report: Report,
): void {
  if (issuer === null) {
    if (clientId === null && !only) return;
    report(['oidc', 'issuer'], 'the issuer, as oidc has other settings', 'nothing');
    return;
  }
  if (clientId === null) {
    report(['oidc', 'client_id'], 'the id of this gateway at the issuer', 'nothing');
  }
  if (server !== null && server.publicUrl === null) {
    report(['server', 'public_url'], 'the address that the issuer leads back to', 'nothing');
  }
  if (!scopes.includes('openid')) report(['oidc', 'scopes'], 'openid among them', 'others');
  const roles = Object.keys(roleMap).length;
  if (roleClaim === null && roles > 0) {
    report(['oidc', 'role_claim'], 'the claim that role_map reads', 'nothing');
  }
  if (roleClaim !== null && roles === 0) {
    report(['oidc', 'role_map'], 'a role for a group, as role_claim is set', 'nothing');
  }
}

function assemble(
  parts: CompleteSettings,
  declared: Declared | null,
  origin: {
    readonly file: string | null;
    readonly listsDigest: string | null;
    readonly origins: Config['origins'];
    readonly lines: Config['lines'];
    readonly environment: Environment;
    readonly workingDirectory: string;
    readonly proxies: Config['proxies'];
  },
): Config {
  const { server, storage, video, ...rest } = parts;
  const absolute = (path: string) => resolve(origin.workingDirectory, path);
  const { cert, key } = server.tls;
  return deepFreeze({
    file: origin.file,
    listsDigest: origin.listsDigest,
    origins: origin.origins,
    lines: origin.lines,
    ...rest,
    server: {
      ...server,
      tls: cert === null || key === null ? null : { cert: absolute(cert), key: absolute(key) },
    },
    storage: {
      url: storage.url.replace(/^sqlite:(.*)$/s, (_, path: string) => `sqlite:${absolute(path)}`),
      dataDir: absolute(storage.dataDir),
    },
    video: {
      ...video,
      storageUrl: video.storageUrl.replace(
        /^file:(?!\/\/)(.*)$/s,
        (_, path: string) => `file:${absolute(path)}`,
      ),
    },
    declared,
    proxies: origin.proxies,
    environmentKeys: providerKeys(origin.environment),
  });
}

function linesOf(declared: Declared, lineOf: ConfigDocument['lineOf']): Config['lines'] {
  const lines = listKeys.map((section) => {
    const entries = declared[section];
    const keys = Array.isArray(entries) ? [...entries.keys()] : Object.keys(entries);
    return [section, keys.map((key: string | number) => lineOf([section, key]) ?? 1)];
  });
  return Object.fromEntries(lines) as Config['lines'];
}

/** Of what stands in the file: the defaults of another version of the gateway do not change it. */
function digestOfLists(root: RawMapping): string {
  const lists = listKeys.map((key) => root[key] ?? null);
  const text = JSON.stringify(lists, (_key, value: unknown) =>
    value instanceof Scalar ? value.value : value,
  );
  return createHash('sha256').update(text).digest('base64url');
}

function readText(file: string, workingDirectory: string): string {
  const fail = (expected: string, got: string): never => {
    throw new ConfigError([{ file, line: null, path: '', expected, got }]);
  };
  let bytes: Buffer;
  try {
    bytes = readFileSync(resolve(workingDirectory, file));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'an error';
    return fail('a readable file', code === 'ENOENT' ? 'no such file' : code);
  }
  if (bytes.length > largestFile) return fail('at most 64MiB', 'more');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return fail('UTF-8 text', 'other bytes');
  }
}

function withEnvironmentDefaults(root: RawMapping, environment: Environment): RawMapping {
  const result: Record<string, RawValue> = Object.assign(Object.create(null), root);
  for (const [section, key, value, variable] of environmentDefaults(environment)) {
    const givenSection = result[section];
    if (!isAbsent(givenSection) && !isMapping(givenSection)) continue;
    const entries = isMapping(givenSection) ? givenSection : {};
    if (entries[key] !== undefined) continue;
    result[section] = {
      ...entries,
      [key]: new Scalar(value, `\${${variable}}`, { expanded: true }),
    };
  }
  return result;
}

function inOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
