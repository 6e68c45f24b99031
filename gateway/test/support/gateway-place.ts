import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator, type Simulator } from 'simulator';
import { onTestFinished } from 'vitest';
import { secret } from '../workers/workplace.ts';
import { startGatewayProcess, type GatewayProcess } from './gateway-process.ts';

/** A gateway in a process of its own, and what it stands on; all of it is gone with the test. */
export interface GatewayPlace {
  readonly gateway: GatewayProcess;
  readonly url: string;
  /** For a connection of the test's own. */
  readonly databaseUrl: string;
  readonly simulator: Simulator;
}

export interface GatewayPlaceOptions {
  /**
   * YAML of channels, accounts and more; `SIMULATOR` in it stands for the simulator's address. Default: one channel,
   * every text protocol, and a key with `secret` that has money enough.
   */
  readonly config?: string;
  /** The working directory, which is removed with the test. Default: a new one. */
  readonly folder?: string;
  /** Default: a file of SQLite in the folder. */
  readonly databaseUrl?: string;
  /** Where the journal is kept. Default: in the folder. */
  readonly dataDir?: string;
  /** How long responses may last after a signal, as in the file. Default: `5s`. */
  readonly drainTimeout?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** As of the process. */
  readonly within?: readonly string[];
}

const oneChannel = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models: [demo-chat]
users: [{ email: tester@example.com, balance: 100000 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`;

/** Starts a gateway as operators run it, with the simulator as its upstream. Resolves when it listens. */
export async function startGatewayPlace(options: GatewayPlaceOptions = {}): Promise<GatewayPlace> {
  const { config = oneChannel, drainTimeout = '5s', environment = {}, within = [] } = options;
  const { dataDir = './data' } = options;
  const simulator = await startSimulator({ keptRequests: 200_000 });
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'sluice-place-'));
  const databaseUrl = options.databaseUrl ?? `sqlite:${folder}/test.db`;
  writeFileSync(
    join(folder, 'sluice.yaml'),
    `
server: { port: 0, drain_timeout: ${drainTimeout} }
storage: { url: ${JSON.stringify(databaseUrl)}, data_dir: ${dataDir} }
${config.replaceAll('SIMULATOR', simulator.url)}`,
  );
  const gateway = startGatewayProcess({ folder, environment, within });
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { gateway, url: await gateway.url, databaseUrl, simulator };
}
