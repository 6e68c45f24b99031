import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '@redis/client';
import type { Logger } from '#observability/index.ts';
import { type Script, scripts } from './scripts.ts';

/** Milliseconds. */
export const linkRules = Object.freeze({
  /** Until a command counts as failed. */
  commandTimeoutMs: 50,
  /** How long a connection is kept on which nothing comes in time. */
  patienceMs: 1_000,
  /** Between two attempts on such a connection. */
  pauseMs: 20,
  probeEveryMs: 1_000,
  connectTimeoutMs: 2_000,
});
/** Above this many commands without a reply, further commands fail at once. */
const longestQueue = 20_000;

/**
 * Replies that a retry does not change: full, read-only, starting, not allowed. Some other commands may still succeed.
 */
const useless = /\b(?:OOM|READONLY|MISCONF|LOADING|BUSY|MASTERDOWN|NOREPLICAS|NOAUTH|NOPERM)\b/;

class TimedOut extends Error {}

export type Reply = readonly (string | number)[];
/** The reply of each step of a batch. */
export type Replies = readonly (string | number | Error | Reply)[];

/** A connection to Redis, or none: callers never wait for Redis to come back. */
export interface Link {
  /** False while Redis is lost, or has just been slow; then only `enter` may call `run`. */
  readonly isUp: boolean;
  /** True while there is no connection. */
  readonly isLost: boolean;
  /** Runs a script. Rejects after 50 ms, on any error that is not part of a reply, and at once without a connection. */
  run(script: Script, keys: readonly string[], values: readonly string[]): Promise<Replies>;
  /** Sends any other command. Rejects on errors, and at once without a connection. */
  send(command: readonly string[]): Promise<unknown>;
  /** Call it when Redis responds but its data are not those that the node knows: it must be entered again. */
  reenter(): void;
  close(): Promise<void>;
}

export interface LinkOptions {
  readonly url: string;
  /** From 0 to 1, so that nodes do not all probe at the same moment. */
  readonly random: () => number;
  /** Runs before any other command on a new connection, and after a slow reply. The link is up when it resolves. */
  readonly enter: (run: Link['run']) => Promise<void>;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** Milliseconds. */
  readonly commandTimeoutMs: number;
}

type Client = ReturnType<typeof connectionTo>;

/**
 * Opens the link and waits for the outcome of the first attempt, good or bad. After a slow reply the connection is kept
 * for a second, in which it may recover. After a loss it retries at once, then every second.
 */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { url, random, enter, log, commandTimeoutMs } = options;
  const ending = new AbortController();
  let client: Client | null = null;
  let isUp = false;
  let recovering: Promise<void> | null = null;

  const drop = (): void => {
    isUp = false;
    client?.destroy();
    client = null;
  };

  const lose = (usedClient: Client, error: unknown): void => {
    if (client !== usedClient) return;
    drop();
    // The attempt that is under way notices it.
    if (recovering !== null) return;
    log.error("lost connection to Redis; enforcing this node's share of every rate", error, {
      component: 'counting',
    });
    begin();
  };

  /** Redis was slow, or knows too little: it is asked again when it has been entered in time. */
  const stumble = (usedClient: Client): void => {
    if (client !== usedClient || !isUp) return;
    isUp = false;
    void mend(usedClient, performance.now() + linkRules.patienceMs);
  };

  const mend = async (usedClient: Client, giveUpAt: number): Promise<void> => {
    if (client !== usedClient) return;
    try {
      await enter(run);
      if (client === usedClient) isUp = true;
      return;
    } catch (error) {
      if (performance.now() >= giveUpAt) {
        lose(usedClient, error);
        return;
      }
    }
    await pauseFor(linkRules.pauseMs);
    await mend(usedClient, giveUpAt);
  };

  const pauseFor = (milliseconds: number): Promise<void> =>
    delay(milliseconds, undefined, { signal: ending.signal, ref: false }).catch(() => {});

  const connect = async (): Promise<void> => {
    const fresh = connectionTo(url);
    client = fresh;
    fresh.on('error', (error: unknown) => lose(fresh, error));
    const tooLate = delay(linkRules.connectTimeoutMs, undefined, {
      signal: ending.signal,
      ref: false,
    }).then(() => Promise.reject(new Error('Redis does not respond')));
    const enterServer = async (): Promise<void> => {
      await fresh.connect();
      // A script that Redis does not know is sent a second time, which puts it behind later commands.
      const loads = Object.values(scripts).map(({ source }) =>
        fresh.sendCommand(['SCRIPT', 'LOAD', source]),
      );
      await Promise.all(loads);
    };
    await Promise.race([enterServer(), tooLate]);
    await enter(run);
    if (client !== fresh) throw new Error('the connection was lost');
    isUp = true;
  };

  /** Retries until it succeeds or the link is closed. */
  const recover = async (afterFirst: (error: unknown) => void): Promise<void> => {
    let tell = afterFirst;
    while (!ending.signal.aborted) {
      try {
        await connect();
        log.info('connected to Redis', { component: 'counting' });
        break;
      } catch (error) {
        drop();
        tell(error);
        tell = () => {};
      }
      await pauseFor(linkRules.probeEveryMs * (0.75 + random() / 2));
    }
    recovering = null;
    tell(null);
  };

  const begin = (afterFirst: (error: unknown) => void = () => {}): void => {
    recovering = recover(afterFirst);
  };

  const send: Link['send'] = (command) =>
    client === null
      ? Promise.reject(new Error('not connected to Redis'))
      : client.sendCommand([...command]);

  const run: Link['run'] = (script, keys, values) => {
    const usedClient = client;
    if (usedClient === null) return Promise.reject(new Error('not connected to Redis'));
    const rest = [String(keys.length), ...keys, ...values];
    const reply = usedClient
      .sendCommand<Replies>(['EVALSHA', script.sha, ...rest])
      .catch((error: unknown) => {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return usedClient.sendCommand<Replies>(['EVAL', script.source, ...rest]);
      });
    return inTime(reply, commandTimeoutMs).then(
      (replies) => {
        const error = replies.find(isUseless);
        if (error !== undefined) lose(usedClient, error);
        return replies;
      },
      (error: unknown) => {
        if (error instanceof TimedOut) stumble(usedClient);
        else lose(usedClient, error);
        throw error;
      },
    );
  };

  await new Promise<void>((resolve) => {
    begin((error) => {
      if (error !== null && !ending.signal.aborted) {
        log.error(
          "Redis is unreachable; enforcing this node's share of every rate until it responds",
          error,
          {
            component: 'counting',
          },
        );
      }
      resolve();
    });
  });

  return {
    get isUp() {
      return isUp;
    },
    get isLost() {
      return client === null || recovering !== null;
    },
    run,
    send,
    reenter() {
      if (client !== null) stumble(client);
    },
    async close() {
      ending.abort();
      drop();
      await recovering;
    },
  };
}

function isUseless(reply: unknown): boolean {
  return reply instanceof Error && useless.test(reply.message);
}

function connectionTo(url: string) {
  return createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: longestQueue,
    maintNotifications: 'disabled',
    disableClientInfo: true,
    // The client's own time-out is an AbortSignal per command, which costs more than everything else; see `inTime`.
    commandOptions: { timeout: 0 },
    socket: { reconnectStrategy: false, connectTimeout: linkRules.connectTimeoutMs },
  });
}

/** The reply, or a rejection after the time-out of a command. */
function inTime<Value>(reply: Promise<Value>, timeoutMs: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // The process may have been busy for all that time: replies that arrived meanwhile are read first.
      setImmediate(() => reject(new TimedOut('Redis timed out')));
    }, timeoutMs);
    reply.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
