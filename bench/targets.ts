import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Pace } from './upstream.ts';
import { Connection } from './connection.ts';
import { drivingCore, measuredCore, outputLine, spawnPinned, stop } from './processes.ts';
import { sleep } from './statistics.ts';

export const benchKey = 'sk-bench-0123456789abcdefghijklmnopqrstuvwxyz';

export const targetNames = ['nginx', 'copy', 'baseline', 'gateway'] as const;
export type TargetName = (typeof targetNames)[number];
/** `copy` shows how little any Node program can cost; it is measured when it is asked for. */
export const usualTargets = targetNames.filter((name) => name !== 'copy');

/** Something that responds to requests, either by itself or by calling the upstream. */
export interface Target {
  readonly name: TargetName | 'direct';
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface Upstream extends Target {
  pace(pace: Pace): Promise<void>;
}

/** Nodes on one database seal and open the same secrets. */
const masterKey = randomBytes(32).toString('base64');
const here = import.meta.dirname;
const root = path.dirname(here);

export async function startUpstream(): Promise<Upstream> {
  const script = path.join(here, 'upstream.ts');
  const child = spawnPinned(drivingCore, process.execPath, [script], { ipc: true });
  const message = <Shape>() =>
    new Promise<Shape>((resolve) => child.once('message', (value) => resolve(value as Shape)));
  const { port } = await message<{ port: number }>();
  return {
    ...target('direct', port, child),
    async pace(pace) {
      child.send(pace);
      await message();
    },
  };
}

/** Starts one of the things that are compared, in front of the upstream, with `directory` for its files. */
export const startTarget: Readonly<
  Record<TargetName, (upstreamPort: number, directory: string) => Promise<Target>>
> = {
  async nginx(upstreamPort, directory) {
    const port = await freePort();
    const values = { directory, upstream: String(upstreamPort), port: String(port) };
    const template = readFileSync(path.join(here, 'nginx.conf'), 'utf8');
    const config = path.join(directory, 'nginx.conf');
    mkdirSync(directory, { recursive: true });
    writeFileSync(
      config,
      Object.entries(values).reduce(
        (text, [name, value]) => text.replaceAll(`@${name}@`, value),
        template,
      ),
    );
    const binary = existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : 'nginx';
    const child = spawnPinned(measuredCore, binary, ['-c', config, '-p', directory]);
    await untilListening(port);
    return target('nginx', port, child);
  },

  copy: (upstreamPort) => startScript('copy', [String(upstreamPort)]),

  baseline: (upstreamPort) => startScript('baseline', [String(upstreamPort), benchKey]),

  gateway: startGateway,
};

export interface GatewayOptions {
  /** Where rates are counted. Default: in memory. */
  readonly redisUrl?: string;
  /** Default: a file of SQLite in the directory. */
  readonly databaseUrl?: string;
  /** YAML of more entries of these lists, a line each. */
  readonly keys?: string;
  readonly channels?: string;
  readonly models?: string;
}

export async function startGateway(
  upstreamPort: number,
  directory: string,
  options: GatewayOptions = {},
): Promise<Target> {
  mkdirSync(directory, { recursive: true });
  const child = spawnGateway(upstreamPort, directory, options);
  const [, port] = await outputLine(child, /^sluice \S+ listening on https?:\/\/[^:]+:(\d+)/);
  return target('gateway', Number(port), child);
}

/** A Node program of this folder that prints where it listens. */
async function startScript(name: 'copy' | 'baseline', values: readonly string[]): Promise<Target> {
  const args = [path.join(here, `${name}.ts`), ...values];
  const child = spawnPinned(measuredCore, process.execPath, args, { quiet: true });
  const [, port] = await outputLine(child, /listening on http:\/\/[^:]+:(\d+)/);
  return target(name, Number(port), child);
}

/** The gateway's process, not awaited. Its log is dropped: nobody reads a log at this rate. */
export function spawnGateway(
  upstreamPort: number,
  directory: string,
  options: GatewayOptions = {},
): ChildProcess {
  const { redisUrl = '', databaseUrl = `sqlite:${directory}/sluice.db` } = options;
  const main = path.join(root, 'gateway/src/main.js');
  const config = path.join(directory, 'gateway.yaml');
  writeFileSync(config, configWith(options));
  return spawnPinned(measuredCore, process.execPath, [main, 'start', '--config', config], {
    quiet: process.env.BENCH_LOG !== '1',
    env: {
      BENCH_DIRECTORY: directory,
      BENCH_UPSTREAM_PORT: String(upstreamPort),
      BENCH_KEY: benchKey,
      BENCH_MASTER_KEY: masterKey,
      BENCH_REDIS: redisUrl,
      BENCH_DATABASE: databaseUrl,
    },
  });
}

function configWith({ keys = '', channels = '', models = '' }: GatewayOptions): string {
  const usual = readFileSync(path.join(here, 'gateway.yaml'), 'utf8');
  const lists = { keys, channels, models };
  return Object.entries(lists).reduce(
    (text, [list, lines]) => text.replace(`\n${list}:\n`, (head) => head + lines),
    usual,
  );
}

function target<Name extends Target['name']>(name: Name, port: number, child: ChildProcess) {
  return { name, port, pid: child.pid ?? 0, stop: () => stop(child) };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
      server.close(() => resolve(port));
    });
  });
}

async function untilListening(port: number): Promise<void> {
  const request = Buffer.from('GET / HTTP/1.1\r\nhost: bench\r\ncontent-length: 0\r\n\r\n');
  for (let attempt = 0; attempt < 200; attempt++) {
    const connection = new Connection(port);
    const up = await connection.exchange(request).then(
      () => true,
      () => false,
    );
    connection.close();
    if (up) return;
    await sleep(25);
  }
  throw new Error('nginx did not start');
}
