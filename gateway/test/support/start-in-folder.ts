import { inspect } from 'node:util';
import { onTestFinished } from 'vitest';
import { startApp, type App } from '#app/index.ts';
import { loadCommandConfig } from '#commands/command-config.ts';
import { greeting } from '#commands/greeting.ts';
import { reloadFile } from '#commands/reload-file.ts';
import type { Config } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';
import { requestLineOf } from '#observability/request-line.ts';

/** YAML of an upstream and an administrator: with them a start makes up no password, and starts no simulator. */
export const ownAccounts = `
channels: [{ name: own, provider: simulator, base_url: "http://127.0.0.1:9", models: [demo-chat] }]
users: [{ email: administrator@example.com, role: admin }]
`;

export interface StartOptions {
  /** Default: nothing, so that nothing of the person who runs the tests plays a part. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Receives a line for everything that is logged. */
  readonly log?: string[];
  /** Closes it: at the test's end, or `afterAll` for a whole file. */
  readonly atEnd?: (close: () => Promise<void>) => void;
}

export interface StartedGateway {
  readonly app: App;
  readonly config: Config;
  readonly url: string;
  /** What `sluice start` prints. */
  readonly greeting: string;
  /** What SIGHUP does. */
  reload(): Promise<void>;
  /** Earlier than at the end. */
  close(): Promise<void>;
}

/** What `sluice start` does in a folder, but in this process. @throws as it does */
export async function startInFolder(
  folder: string,
  { environment = {}, log = [], atEnd = onTestFinished }: StartOptions = {},
): Promise<StartedGateway> {
  const io = { stdout: () => {}, stderr: () => {}, environment, workingDirectory: folder };
  const input = { text: () => undefined, texts: () => [], flag: () => false, positionals: [] };
  const config = await loadCommandConfig(input, io);
  const logger = loggerTo(log);
  // As `main.js` does. Every file is its user's alone, or the next start closes it and logs that.
  const umask = process.umask(0o077);
  let app: App | null = null;
  let closed: Promise<void> | null = null;
  const close = () => (closed ??= app?.close() ?? Promise.resolve());
  atEnd(async () => {
    await close();
    process.umask(umask);
  });
  const started = (app = await startApp({ config, logger }));
  return {
    app: started,
    config,
    url: started.url,
    greeting: greeting('1.2.3', started, config),
    reload: () =>
      reloadFile({
        input,
        io,
        logger,
        running: config,
        apply: (changed) => started.reload(changed),
      }),
    close,
  };
}

/** The values of the lines that follow the address. */
export function greetingLines(text: string): Record<string, string> {
  const lines = text.trimEnd().split('\n').slice(1);
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
}

function loggerTo(log: string[]): Logger {
  const add = (...said: readonly unknown[]) => void log.push(inspect(said, { depth: null }));
  return {
    info: add,
    warn: add,
    error: add,
    request: (exchange) => add(requestLineOf(exchange)),
    droppedLines: 0,
  };
}
