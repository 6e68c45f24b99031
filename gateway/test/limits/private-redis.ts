import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, RESP_TYPES } from '@redis/client';
import { freePort } from '../support/free-port.ts';

const program = process.env.SLUICE_TEST_REDIS_SERVER ?? '/usr/bin/redis-server';

/** False where there is no program to start: tests of faults need a Redis that nobody else uses. */
export const canStartRedis = existsSync(program);
if (!canStartRedis && process.env.CI !== undefined) {
  throw new Error(`no redis-server at ${program}, which this run requires`);
}

export interface PrivateRedis {
  readonly url: string;
  /** One command, on a connection of its own. */
  command(...words: string[]): Promise<unknown>;
  /** It stops answering, and keeps its connections. */
  freeze(): void;
  thaw(): void;
  /** Remembers all data now. The result puts them back at once, on the same connections. */
  snapshot(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
  /** Again on the same port: empty, or with the snapshot that `SAVE` left in its `--dir`. */
  start(): Promise<void>;
}

/**
 * A Redis server of this test's own, on a free port, that keeps nothing on disk by itself.
 *
 * @param settings more of its command line, such as `--dir` and a folder
 */
export async function startPrivateRedis(settings: readonly string[] = []): Promise<PrivateRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server: ChildProcess | null = null;

  const command = async (...words: string[]): Promise<unknown> => {
    const client = createClient({ url, socket: { reconnectStrategy: false } });
    client.on('error', () => {});
    await client.connect();
    try {
      return await client.sendCommand(words);
    } finally {
      client.destroy();
    }
  };

  const answers = (): Promise<boolean> =>
    command('PING').then(
      () => true,
      () => false,
    );

  const start = async (): Promise<void> => {
    const options = [
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      ...settings,
    ];
    server = spawn(program, options, { stdio: 'ignore' });
    for (let tries = 0; !(await answers()); tries += 1) {
      if (tries > 500) throw new Error('the private Redis does not start');
      await delay(30);
    }
  };

  /** Commands of one transaction. */
  const together = async (
    commands: readonly (readonly (string | Buffer)[])[],
  ): Promise<unknown> => {
    const client = await createClient({ url }).connect();
    try {
      const transaction = client.multi();
      for (const words of commands) transaction.addCommand([...words]);
      return await transaction.exec();
    } finally {
      client.destroy();
    }
  };

  const snapshot = async (): Promise<() => Promise<void>> => {
    const script =
      "local all = {} for _, key in ipairs(redis.call('KEYS', '*')) do " +
      "all[#all + 1] = {key, redis.call('PTTL', key), redis.call('DUMP', key)} end return all";
    const client = await createClient({ url })
      .withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
      .connect();
    const kept = await client.sendCommand<[Buffer, number, Buffer][]>(['EVAL', script, '0']);
    client.destroy();
    return async () => {
      const restores = kept.map(([key, ttl, dump]) => [
        'RESTORE',
        key,
        String(Math.max(0, ttl)),
        dump,
      ]);
      await together([['FLUSHALL'], ...restores]);
    };
  };

  await start();
  return {
    url,
    command,
    snapshot,
    freeze() {
      server?.kill('SIGSTOP');
    },
    thaw() {
      server?.kill('SIGCONT');
    },
    async stop() {
      const stopping = server;
      if (stopping === null) return;
      server = null;
      const gone = new Promise((resolve) => stopping.once('exit', resolve));
      stopping.kill('SIGKILL');
      await gone;
    },
    start,
  };
}
