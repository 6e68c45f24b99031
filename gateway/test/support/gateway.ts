import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startSimulator, type Simulator } from 'simulator';
import { startApp, type App, type AppOptions } from '#app/index.ts';
import { type Config, type DeclaredUser, parseConfig } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';
import { listUsage, type UsageEntry } from '#usage/index.ts';
import { placeOfRun } from './body-places.ts';
import { writeMigratedFile } from './migrated-file.ts';

/** The secret of the key that every test gateway declares. */
export const testKey = 'sk-test-0123456789abcdefghijklmnopqrstuv';

export interface TestGateway {
  readonly app: App;
  readonly url: string;
  /** For a connection of the test's own. */
  readonly databaseUrl: string;
  readonly simulator: Simulator;
  /** What was logged as an error; empty in a healthy test. */
  readonly errors: readonly unknown[];
  /** The newest rows first, once everything that is in the journal has been applied. Default: up to 1 000. */
  usage(limit?: number): Promise<readonly UsageEntry[]>;
  /** A request with the test key. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Takes another file into force; `SIMULATOR` as in the options. */
  reload(config: string): Promise<void>;
  close(): Promise<void>;
}

export interface TestGatewayOptions {
  /** PEM files. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Default: any that is free. */
  readonly port?: number;
  /** How clients reach it from outside. Default: nobody says. */
  readonly publicUrl?: string;
  readonly trustedProxies?: readonly string[];
  /** YAML of `channels:` and more; `SIMULATOR` in it stands for the simulator's address. Default: one channel, every protocol. */
  readonly config?: string;
  /** Variables that the configuration reads. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly recordings?: string;
  /** Empty, or with this version's tables. Default: a file of SQLite, gone with the gateway. */
  readonly databaseUrl?: string;
  /** Listens to parts of the log. Default: only errors, into `errors`. */
  readonly logger?: Partial<Logger>;
  /** Milliseconds after which a client that takes nothing is cut off. */
  readonly writeStall?: number;
  /** Milliseconds of lag from which it is overloaded. Default: never, as a busy machine delays whole processes. */
  readonly highLag?: number;
  /** Default: every refusal has a row of its own, as most tests look for theirs. */
  readonly refusalBounds?: AppOptions['refusalBounds'];
  readonly mediaFetch?: AppOptions['mediaFetch'];
  /** Milliseconds between heartbeats. */
  readonly beatEvery?: number;
  /** Where the work on bodies is done. Default: as `SLUICE_BODY_WORK` says. */
  readonly bodyWeights?: AppOptions['bodyWeights'];
  /** Models of the bundled catalogue that the file may name. Default: two of the demo's. */
  readonly bundledModels?: readonly string[];
}

/** Every test gateway has this administrator: to make one up, a first start hashes a password, which takes 0.4 s. */
const administrator: DeclaredUser = {
  email: 'administrator@example.com',
  name: null,
  role: 'admin',
  balance: '0',
  quota: null,
  groups: ['default'],
  enabled: true,
};

function withAdministrator(config: Config): Config {
  const { declared } = config;
  if (declared === null) return config;
  return { ...config, declared: { ...declared, users: [...declared.users, administrator] } };
}

const oneChannel = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models: [demo-chat, demo-reasoning]
`;

const account = `
users:
  - { email: tester@example.com, balance: 100 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
`;

/** A whole gateway on a fresh database, with the simulator as its upstream, both in this process. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-test-'));
  const simulator = await startSimulator(
    options.recordings === undefined ? {} : { recordings: options.recordings },
  );
  const databaseUrl = options.databaseUrl ?? `sqlite:${directory}/test.db`;
  if (options.databaseUrl === undefined) await writeMigratedFile(join(directory, 'test.db'));
  const errors: unknown[] = [];
  const logger: Logger = {
    info: () => {},
    warn: () => {},
    error: (_message, error) => void errors.push(error),
    request: () => {},
    droppedLines: 0,
    ...options.logger,
  };
  const read = (declared: string): Config =>
    withAdministrator(
      parseConfig(textOf(declared).replaceAll('SIMULATOR', simulator.url), {
        file: 'test.yaml',
        environment: options.environment ?? {},
        bundledModels: options.bundledModels ?? ['demo-chat', 'demo-reasoning'],
      }),
    );
  const textOf = (declared: string): string => `
server: { port: ${options.port ?? 0}, drain_timeout: 2s${options.tls === undefined ? '' : `, tls: ${JSON.stringify(options.tls)}`}${options.publicUrl === undefined ? '' : `, public_url: '${options.publicUrl}'`}, trusted_proxies: ${JSON.stringify(options.trustedProxies ?? [])} }
storage: { url: "${databaseUrl}", data_dir: "${directory}" }
${declared}
${declared.includes('\nkeys:') ? '' : account}
`;
  const config = read(options.config ?? oneChannel);
  const { writeStall, mediaFetch, highLag = Infinity, beatEvery } = options;
  const { refusalBounds = { mostRows: Infinity, mostRefusals: Infinity } } = options;
  const { bodyWeights = placeOfRun() } = options;
  const remove = async (): Promise<void> => {
    await simulator.close();
    rmSync(directory, { recursive: true, force: true });
  };
  const app = await startApp({
    config,
    logger,
    refusalBounds,
    highLag,
    // Most tests look for a row at once.
    journalLookEvery: 5,
    ...(bodyWeights !== undefined && { bodyWeights }),
    ...(writeStall !== undefined && { writeStall }),
    ...(mediaFetch !== undefined && { mediaFetch }),
    ...(beatEvery !== undefined && { beatEvery }),
  }).catch(async (error: unknown) => {
    await remove();
    throw error;
  });

  return {
    app,
    url: app.url,
    databaseUrl,
    simulator,
    errors,
    async usage(limit = 1000) {
      for (let round = 0; app.journal.depth > 0 && round < 2_000; round += 1) await wait(5);
      return (await listUsage(app.database.kysely, { limit })).data;
    },
    post: (path, body, headers = {}) =>
      fetch(app.url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${testKey}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    reload: (declared) => app.reload(read(declared)),
    async close() {
      await app.close();
      await remove();
    },
  };
}
