import pg from 'pg';
import { postgresUrls } from '#config/index.ts';
import { destroyConnection } from './postgres.ts';

/** The channel that writers notify, in the transaction of the change. PostgreSQL delivers only within one database. */
export const changesChannel = 'sluice_changes';
/** Milliseconds before a lost connection is retried. */
const pause = 1_000;

/** A connection that only listens for changes. */
export interface Listening {
  /** False while connecting: notifications are missed. */
  readonly works: boolean;
  close(): void;
}

/**
 * Connects in the background and reconnects after a loss. Calls `onNews` for each notification and whenever the state
 * of the connection changes, since notifications between two connections are lost. Never throws. Behind a pooler that
 * shares connections between transactions, no notification ever arrives.
 */
export function listenForChanges(url: string, onNews: () => void): Listening {
  return listenTo(url, [changesChannel], onNews);
}

/**
 * The same for any channels.
 * @param onNews receives the content and the channel, or null twice when the state of the connection changes
 */
export function listenTo(
  url: string,
  channels: readonly string[],
  onNews: (content: string | null, channel: string | null) => void,
): Listening {
  const urls = postgresUrls(url);
  let at = 0;
  let works = false;
  let isClosed = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function connect(): Promise<void> {
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
    next.on('notification', ({ payload = '', channel }) => onNews(payload, channel));
    next.on('error', () => lose(next));
    next.on('end', () => lose(next));
    try {
      await next.connect();
      for (const channel of channels) await next.query(`listen ${channel}`);
      if (client === next) tell(true);
    } catch {
      lose(next);
    }
  }

  function lose(lostClient: pg.Client): void {
    if (client !== lostClient) return;
    client = null;
    // A standby refuses to listen, so it is left like a host that is down.
    at += 1;
    void lostClient.end().catch(() => {});
    // A frozen server never closes its side, and an open socket would keep the process alive.
    setTimeout(() => destroyConnection(lostClient), 1_000).unref();
    if (isClosed) return;
    timer = setTimeout(() => void connect(), pause);
    timer.unref();
    if (works) tell(false);
  }

  function tell(state: boolean): void {
    works = state;
    onNews(null, null);
  }

  void connect();
  return {
    get works() {
      return works;
    },
    close() {
      isClosed = true;
      works = false;
      if (timer !== null) clearTimeout(timer);
      if (client !== null) lose(client);
    },
  };
}
