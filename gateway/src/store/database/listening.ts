import pg from 'pg';
import { destroyConnection } from './postgres.ts';

/** What writers notify, in the transaction that changes something. PostgreSQL keeps its databases apart. */
export const changesChannel = 'sluice_changes';
/** Milliseconds until a lost connection is tried again. */
const pause = 1_000;

/** One connection that does nothing but wait to be told of changes. */
export interface Listening {
  /** False while it is being connected: then nobody is told anything. */
  readonly works: boolean;
  close(): void;
}

/**
 * Connects in the background, and again whenever the connection is lost. `onNews` is called for each notification,
 * and when the state of the connection changes: what happened between two connections was told to nobody.
 * Never throws. Behind a pooler that shares connections between transactions nothing is ever heard.
 */
export function listenForChanges(url: string, onNews: () => void): Listening {
  let works = false;
  let isClosed = false;
  let client: pg.Client | null = null;
  let timer: NodeJS.Timeout | null = null;

  async function connect(): Promise<void> {
    const next = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 2_000,
      application_name: 'sluice listening',
      keepAlive: true,
      // Not the system's two hours: what drops idle connections on the way is found out or kept from it.
      keepAliveInitialDelayMillis: 10_000,
    });
    client = next;
    next.on('notification', onNews);
    next.on('error', () => lose(next));
    next.on('end', () => lose(next));
    try {
      await next.connect();
      await next.query(`listen ${changesChannel}`);
      if (client === next) tell(true);
    } catch {
      lose(next);
    }
  }

  function lose(lost: pg.Client): void {
    if (client !== lost) return;
    client = null;
    void lost.end().catch(() => {});
    // A frozen server does not say goodbye, and an open socket would keep the process alive.
    setTimeout(() => destroyConnection(lost), 1_000).unref();
    if (isClosed) return;
    timer = setTimeout(() => void connect(), pause);
    timer.unref();
    if (works) tell(false);
  }

  function tell(state: boolean): void {
    works = state;
    onNews();
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
