import { readFileSync } from 'node:fs';
import type { Config } from '#config/index.ts';
import type { ConsoleOptions } from '#console-api/index.ts';
import { type OpenDatabase, openDatabase } from '#database/index.ts';
import type { Closing } from './closing.ts';

/** Milliseconds: a page that takes longer shows an error instead of holding up the database. */
const statementTimeout = 5_000;
/** The same for a comparison of the books, which nobody waits for. */
const reconcilingTimeout = 600_000;

const builtPages = new URL('../../../../console/dist/', import.meta.url);
const manifest = new URL('../../../package.json', import.meta.url);

/** Of this program. */
export function ownVersion(): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version;
}

/** The console's parts; null: it is switched off. */
export function openConsole(
  { storage, console: settings, oidc }: Pick<Config, 'storage' | 'console' | 'oidc'>,
  /** The file as it is in force. */
  file: () => Pick<Config, 'file' | 'declared'>,
  parts: Pick<
    ConsoleOptions,
    | 'database'
    | 'version'
    | 'secrets'
    | 'health'
    | 'feed'
    | 'tryChannel'
    | 'findModels'
    | 'explain'
    | 'held'
    | 'log'
    | 'bringIntoForce'
  >,
  closing: Closing,
): Omit<ConsoleOptions, 'now' | 'snapshot'> | null {
  if (!settings.enabled) return null;
  let reading: OpenDatabase | null = null;
  return {
    ...parts,
    reading: () =>
      (reading ??= closing.add(
        openDatabase({ url: storage.url, statementTimeout, maxConnections: 2 }),
      )),
    openForReconciling: () =>
      openDatabase({
        url: storage.url,
        statementTimeout: reconcilingTimeout,
        maxConnections: 1,
      }),
    files: builtPages,
    allowInsecure: settings.insecureHttp,
    members: settings.members,
    oidc: oidc.issuer === null ? null : oidc,
    placeInFile({ section, identity }, name) {
      const { file: path, declared } = file();
      const entries: object = declared?.[section] ?? [];
      if (path === null) return null;
      // Aliases are a mapping.
      if (!Array.isArray(entries)) {
        return Object.hasOwn(entries, name) ? { file: path, path: `${section}.${name}` } : null;
      }
      const list = entries as readonly Readonly<Record<string, unknown>>[];
      const index = list.findIndex((entry) => entry[identity] === name);
      return index < 0 ? null : { file: path, path: `${section}[${index}]` };
    },
  };
}
