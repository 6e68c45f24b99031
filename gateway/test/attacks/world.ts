import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '#commands/index.ts';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import {
  canStartPostgres,
  startPrivatePostgres,
  type PrivatePostgres,
} from '../database/private-postgres.ts';
import { canStartRedis, startPrivateRedis, type PrivateRedis } from '../limits/private-redis.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { openWorkplace, type Workplace } from '../workers/workplace.ts';
import { describeAccounts, type Account } from './accounts.ts';

/** For `skipIf`: the servers that attacks kill cannot be started here. With `CI` set that is a failure instead. */
export const cannotAttack = !canStartPostgres || !canStartRedis;

/** A gateway, its folder, and its own way to the database. */
export interface AttackedNode {
  readonly name: string;
  /** Its data. */
  readonly dataDir: string;
  /** Where it listens: another address after each start. */
  readonly url: string;
  readonly process: GatewayProcess;
  readonly way: TcpProxy;
  /** At once, as in a crash. */
  kill(): Promise<void>;
  /** Again on its folder. @param parameters of the command */
  start(parameters?: readonly string[]): Promise<void>;
  /** It stops where it is, as a machine that sleeps. */
  freeze(): void;
  thaw(): void;
}

/** Nodes with a PostgreSQL and a Redis of their own, all of which can be killed, paused and put back in time. */
export interface World {
  readonly place: Workplace;
  readonly postgres: PrivatePostgres;
  readonly redis: PrivateRedis;
  readonly nodes: readonly AttackedNode[];
  /** The nodes' database, past their ways to it. */
  readonly database: OpenDatabase;
  /** Writes the accounts into the file of every node. */
  describe(accounts: readonly Account[]): void;
  /** Runs a command beside a node. */
  sluice(node: number, ...words: string[]): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly accounts: readonly Account[];
  /** How many. Default: three. */
  readonly nodes?: number;
  /** YAML of other settings. */
  readonly settings?: string;
  /** Of PostgreSQL, such as `synchronous_commit=off`. */
  readonly postgresSettings?: readonly string[];
  /** Of the processes. */
  readonly environmentOf?: (node: number) => Readonly<Record<string, string>>;
}

const nameOf = (node: number): string => `node-${node}`;

export async function openWorld(options: WorldOptions): Promise<World> {
  const { accounts, nodes: count = 3, settings = '', environmentOf = () => ({}) } = options;
  const redisFolder = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  const [postgres, redis] = await Promise.all([
    startPrivatePostgres(options.postgresSettings),
    startPrivateRedis(['--dir', redisFolder]),
  ]);
  const place = await openWorkplace({ redis, databaseUrl: postgres.url });
  const ways: (TcpProxy & { close(): void })[] = [];
  const describe = (described: readonly Account[]): void => {
    const more = `${settings}\n${describeAccounts(described)}`;
    for (const [at, { port }] of ways.entries()) {
      const through = postgres.url.replace(`:${postgres.port}/`, `:${port}/`);
      place.write({ node: nameOf(at), more, through });
    }
  };
  const openNode = async (way: TcpProxy, at: number): Promise<AttackedNode> => {
    const name = nameOf(at);
    const environment = environmentOf(at);
    let gateway = place.start(name, [], environment);
    let url = await gateway.url;
    return {
      name,
      dataDir: join(place.folder, name, 'data'),
      way,
      get url() {
        return url;
      },
      get process() {
        return gateway;
      },
      async kill() {
        gateway.child.kill('SIGKILL');
        await gateway.exit;
      },
      async start(parameters = []) {
        gateway = place.start(name, parameters, environment);
        url = await gateway.url;
      },
      freeze: () => void gateway.child.kill('SIGSTOP'),
      thaw: () => void gateway.child.kill('SIGCONT'),
    };
  };
  for (let at = 0; at < count; at += 1) {
    ways.push(await openTcpProxy('127.0.0.1', postgres.port));
  }
  describe(accounts);
  const nodes = await Promise.all(ways.map(openNode));
  const database = openDatabase({ url: postgres.url });
  return {
    place,
    postgres,
    redis,
    nodes,
    database,
    describe,
    async sluice(node, ...words) {
      let out = '';
      const say = (text: string) => void (out += text);
      const workingDirectory = join(place.folder, nameOf(node));
      const code = await run(words, {
        stdout: say,
        stderr: say,
        environment: {},
        workingDirectory,
      });
      if (code !== 0) throw new Error(`sluice ${words.join(' ')}: ${out}`);
    },
    async close() {
      await place.close();
      for (const way of ways) way.close();
      await database.close();
      await Promise.all([postgres.close(), redis.stop()]);
      rmSync(redisFolder, { recursive: true, force: true });
    },
  };
}
