import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import { postgresUrls } from '#config/index.ts';
import { destroyConnection } from './postgres.ts';
import type { Database } from './schema.ts';

/** The channel that writers notify, in the transaction of the change. PostgreSQL delivers only within one database. */
export const changesChannel = 'sluice_changes';
/** Milliseconds before a lost connection is retried. */
const pause = 1_000;

/** Some channels that somebody listens to. */
export interface Listening {
  /** False while connecting: notifications are missed. */
  readonly works: boolean;
  close(): void;
}

/**
 * Calls `onNews` for each notification of these channels, with its content and channel; and with null twice whenever
 * notifications begin or cease to arrive, since those in between are lost. Never throws.
 */
export type Listen = (
  channels: readonly string[],
  onNews: (content: string | null, channel: string | null) => void,
) => Listening;

/**
 * Sends texts of less than 8,000 bytes to all who listen to a channel. PostgreSQL only. Transactions that notify commit one
 * after the other; none waits there until this one is on disk.
 */
export async function notify(
  db: Kysely<Database>,
  channel: string,
  texts: readonly string[],
): Promise<void> {
  await sql`
    select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, text)
    from unnest(${texts}::text[]) as text`.execute(db);
}

interface Subscriber {
  readonly channels: readonly string[];
  readonly onNews: Parameters<Listen>[1];
  works: boolean;
}

/**
 * One connection for all who listen, while somebody does. It connects in the background and again after a loss. Behind a
 * pooler that shares connections between transactions, no notification ever arrives.
 */
export function createNotifications(url: string): { readonly listen: Listen; close(): void } {
  const urls = postgresUrls(url);
  const subscribers = new Set<Subscriber>();
  let at = 0;
  let isClosed = false;
  let client: pg.Client | null = null;
  let isConnected = false;
  let timer: NodeJS.Timeout | null = null;
  /** One after the other. Never rejects. */
  let statements = Promise.resolve();

  async function connect(): Promise<void> {
    timer = null;
    const next = new pg.Client({
      connectionString: urls[at % urls.length] ?? url,
      connectionTimeoutMillis: 2_000,
      application_name: 'sluice listening',
      keepAlive: true,
      // Shorter than the system's two hours: keeps middleboxes from dropping the idle connection, and detects if they
      // did.
      keepAliveInitialDelayMillis: 10_000,
    });
    client = next;
    next.on('notification', ({ payload = '', channel }) => {
      for (const { channels, onNews } of subscribers) {
        if (channels.includes(channel)) onNews(payload, channel);
      }
    });
    next.on('error', () => lose(next));
    next.on('end', () => lose(next));
    try {
      await next.connect();
      if (client !== next) return;
      isConnected = true;
      for (const subscriber of subscribers) begin(subscriber, next);
    } catch {
      lose(next);
    }
  }

  function begin(subscriber: Subscriber, on: pg.Client): void {
    run(on, 'listen', subscriber.channels, () => {
      if (subscribers.has(subscriber)) tell(subscriber, true);
    });
  }

  function run(
    on: pg.Client,
    verb: 'listen' | 'unlisten',
    channels: readonly string[],
    onDone: () => void,
  ): void {
    statements = statements.then(async () => {
      if (client !== on) return;
      try {
        for (const channel of channels) await on.query(`${verb} ${channel}`);
      } catch {
        lose(on);
      }
      if (client === on) onDone();
    });
  }

  function lose(lostClient: pg.Client): void {
    if (client !== lostClient) return;
    drop(lostClient);
    // A standby refuses to listen, so it is left like a host that is down.
    at += 1;
    timer = setTimeout(() => void connect(), pause);
    timer.unref();
    for (const subscriber of subscribers) if (subscriber.works) tell(subscriber, false);
  }

  function drop(dropped: pg.Client): void {
    client = null;
    isConnected = false;
    void dropped.end().catch(() => {});
    // A frozen server never closes its side, and an open socket would keep the process alive.
    setTimeout(() => destroyConnection(dropped), 1_000).unref();
  }

  function tell(subscriber: Subscriber, state: boolean): void {
    subscriber.works = state;
    subscriber.onNews(null, null);
  }

  function leave(subscriber: Subscriber): void {
    subscriber.works = false;
    if (!subscribers.delete(subscriber)) return;
    if (subscribers.size === 0) return stop();
    const others = new Set([...subscribers].flatMap(({ channels }) => channels));
    const on = client;
    if (on === null || !isConnected) return;
    const unheard = subscriber.channels.filter((channel) => !others.has(channel));
    run(on, 'unlisten', unheard, () => {});
  }

  function stop(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (client !== null) drop(client);
  }

  return {
    listen(channels, onNews) {
      const subscriber: Subscriber = { channels, onNews, works: false };
      if (!isClosed) {
        subscribers.add(subscriber);
        if (client !== null && isConnected) begin(subscriber, client);
        else if (client === null && timer === null) void connect();
      }
      return {
        get works() {
          return subscriber.works;
        },
        close: () => leave(subscriber),
      };
    },
    close() {
      isClosed = true;
      for (const subscriber of subscribers) subscriber.works = false;
      subscribers.clear();
      stop();
    },
  };
}
