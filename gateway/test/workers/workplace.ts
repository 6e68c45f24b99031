import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator, type Simulator } from 'simulator';
import { onTestFinished } from 'vitest';
import { type PrivateRedis, startPrivateRedis } from '../limits/private-redis.ts';
import { createTestDatabase } from '../database/databases.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';

/** As strong as a key has to be, or the log would warn of it. */
export const secret = `sk-${randomBytes(24).toString('base64url')}`;

/** Everything that several processes share, gone with the test. */
export interface Workplace {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly redis: PrivateRedis;
  readonly simulator: Simulator;
  /** Writes `sluice.yaml` into a folder below. `more`: YAML of accounts and settings. */
  write(options: {
    readonly node?: string;
    readonly server?: string;
    /** Default: any. */
    readonly port?: number;
    /** Default: `./data`. */
    readonly dataDir?: string;
    /** Default: `5s`. */
    readonly drainTimeout?: string;
    readonly more?: string;
    /** Another way to the database. */
    readonly through?: string;
    readonly sharesRedis?: boolean;
  }): string;
  /** Starts a gateway in a folder below; killed with the workplace if it still runs. */
  start(
    node?: string,
    parameters?: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ): GatewayProcess;
  close(): Promise<void>;
}

const accounts = `
users: [{ email: tester@example.com, balance: 100 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`;

/** Gone with the test. */
export async function createWorkplace(): Promise<Workplace> {
  const redis = await startPrivateRedis();
  const database = await createTestDatabase('postgres');
  const place = await openWorkplace({ redis, databaseUrl: database.url });
  onTestFinished(async () => {
    await place.close();
    await redis.stop();
    await database.drop();
  });
  return place;
}

/** Gateways on this Redis and this database, which stay when it is closed. */
export async function openWorkplace({
  redis,
  databaseUrl,
}: Pick<Workplace, 'redis' | 'databaseUrl'>): Promise<Workplace> {
  const simulator = await startSimulator({ keptRequests: 200_000 });
  const folder = mkdtempSync(join(tmpdir(), 'sluice-nodes-'));
  const started: GatewayProcess[] = [];
  const masterKey = randomBytes(32).toString('base64');
  return {
    folder,
    databaseUrl,
    redis,
    simulator,
    write(options) {
      const { node = '', server = '', drainTimeout = '5s', more = accounts } = options;
      const { port = 0, dataDir = './data' } = options;
      const { through = databaseUrl, sharesRedis = true } = options;
      const own = join(folder, node);
      mkdirSync(own, { recursive: true });
      const text = `
server: { port: ${port}, drain_timeout: ${drainTimeout}${server} }
storage: { url: ${JSON.stringify(through)}, data_dir: ${dataDir} }
${sharesRedis ? `redis: { url: ${redis.url} }` : ''}
secrets: { master_key: ${masterKey} }
channels:
  - name: sim
    provider: simulator
    base_url: ${simulator.url}
    protocols: [chat, responses, messages, generate-content, images]
    models: [demo-chat, demo-image, { name: priced, upstream: demo-chat }]
models:
  - { id: priced, type: chat, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }
${more}`;
      writeFileSync(join(own, 'sluice.yaml'), text);
      return own;
    },
    start(node = '', parameters = [], environment = {}) {
      const gateway = startGatewayProcess({ folder: join(folder, node), parameters, environment });
      started.push(gateway);
      return gateway;
    },
    async close() {
      for (const { child } of started) child.kill('SIGKILL');
      await Promise.all(started.map(({ exit }) => exit));
      await simulator.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The processes of a gateway's workers. */
export function workersOf({ child }: GatewayProcess): number[] {
  const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  return children.trim().split(' ').filter(Boolean).map(Number);
}

/** One chat request; a connection of its own, so that every process can get it. */
export async function askChat(
  url: string,
  options: {
    readonly model?: string;
    readonly key?: string;
    readonly fault?: string;
    readonly stream?: boolean;
  } = {},
): Promise<{ readonly status: number; readonly id: string | null; readonly text: string }> {
  const { model = 'demo-chat', key = secret, fault = '', stream = false } = options;
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      connection: 'close',
      ...(fault === '' ? {} : { 'x-simulator-fault': fault }),
    },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hello' }] }),
  });
  return {
    status: response.status,
    id: response.headers.get('x-request-id'),
    text: await response.text(),
  };
}
