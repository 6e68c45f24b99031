import { readFileSync } from 'node:fs';
import type { Config } from '#config/index.ts';
import type { ConsoleOptions, GatewayState, LiveFeed } from '#console-api/index.ts';
import { type OpenDatabase, openDatabase, type Secrets } from '#database/index.ts';
import type { Closing } from './closing.ts';

/** Milliseconds: a page that takes longer shows an error instead of holding up the database. */
const statementTimeout = 5_000;

const built = new URL('../../../../console/dist/', import.meta.url);
const manifest = new URL('../../../package.json', import.meta.url);

/** The console's parts; null: it is switched off. */
export function openConsole(
  { storage, console: settings }: Pick<Config, 'storage' | 'console'>,
  database: OpenDatabase,
  secrets: Secrets,
  live: { readonly feed: LiveFeed; readonly state: GatewayState },
  closing: Closing,
): Omit<ConsoleOptions, 'now' | 'snapshot'> | null {
  if (!settings.enabled) return null;
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
  let reading: OpenDatabase | null = null;
  return {
    database,
    reading: () =>
      (reading ??= closing.add(
        openDatabase({ url: storage.url, statementTimeout, maxConnections: 2 }),
      )),
    secrets,
    ...live,
    version,
    files: built,
    allowInsecure: settings.insecureHttp,
  };
}
