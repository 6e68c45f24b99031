import {
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  PostgresDialect,
} from 'kysely';
import pg from 'pg';
import { postgresUrls } from '#config/index.ts';
import { moneyColumns } from './integers.ts';

const { INT8: int8, NUMERIC: numeric } = pg.types.builtins;

export interface PostgresOptions {
  readonly url: string;
  readonly maxConnections: number;
  /** Milliseconds; 0 = none. */
  readonly statementTimeout: number;
}

/** PostgreSQL through a pool that opens connections on demand. */
export function createPostgresDialect(options: PostgresOptions): PostgresDialect {
  const { statementTimeout } = options;
  const hosts = createHosts(options.url);
  const pool = new pg.Pool({
    Client: limitingClient(statementTimeout, hosts) as unknown as new () => pg.ClientBase,
    max: options.maxConnections,
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: 'sluice',
    onConnect: (client) => (client as unknown as LimitedClient).limitSession(),
    // The server's own time-out does not help if the server or the network to it is frozen.
    ...(statementTimeout === 0 ? {} : { query_timeout: statementTimeout + 500 }),
    types: { getTypeParser: typeParser },
  });
  // The pool replaces a broken idle connection at the next query. Without a listener the error would end the process.
  pool.on('error', () => {});
  return new PostgresDialect({
    pool: {
      options: pool.options,
      connect: () => connectToAny(pool, hosts),
      end: () => pool.end(),
    },
  });
}

/** The hosts of a URL. New connections go to the current one. */
interface Hosts {
  readonly count: number;
  readonly current: string;
  /** Whether only a server that takes writes will do: `target_session_attrs=read-write`. */
  readonly mustWrite: boolean;
  /** The next one becomes current, unless another connection has come to that already. */
  leave(failed: string): void;
}

function createHosts(url: string): Hosts {
  const urls = postgresUrls(url);
  let at = 0;
  const currentOf = (): string => urls[at % urls.length] ?? url;
  return {
    count: urls.length,
    get current() {
      return currentOf();
    },
    mustWrite: /[?&]target_session_attrs=(read-write|primary)(&|$)/.test(url),
    leave(failed) {
      if (failed === currentOf()) at += 1;
    },
  };
}

/** The pool's words for "all connections are in use": the host is not to blame. */
const busyPool = 'timeout exceeded when trying to connect';

/** Tries each host once, beginning with the one that worked last. @throws what the last one said */
async function connectToAny(pool: pg.Pool, hosts: Hosts): Promise<pg.PoolClient> {
  for (let tried = 1; ; tried += 1) {
    const { current } = hosts;
    try {
      return await pool.connect();
    } catch (error) {
      if (hosts.count === 1 || (error as Error).message === busyPool) throw error;
      hosts.leave(current);
      if (tried >= hosts.count) throw error;
    }
  }
}

/** A client whose statements have our isolation level, and which the server ends after a while. */
interface LimitedClient {
  /** Returns a promise that the pool waits for, although its type says otherwise. */
  readonly limitSession: () => unknown;
}

/**
 * Where the session is ours alone, it gets the time-out, and `read committed`: a server whose default is stricter would
 * refuse statements that only come second. A pooler (PgBouncer) refuses both as startup parameters, and would hand a
 * server connection with our settings to others: it gives out process ids of its own, so that nothing is set there, and
 * each transaction brings the settings along.
 */
function limitingClient(statementTimeout: number, hosts: Hosts): typeof DroppingClient {
  const settings = [
    `set_config('default_transaction_isolation', 'read committed', false)`,
    // Without one of ours, that of the server stays.
    ...(statementTimeout === 0
      ? []
      : [`set_config('statement_timeout', '${statementTimeout}', false)`]),
  ];
  const timeout =
    statementTimeout === 0 ? '' : `; set local statement_timeout = ${statementTimeout}`;
  return class extends DroppingClient implements LimitedClient {
    #isSessionLimited = false;

    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionString: hosts.current });
    }

    async limitSession(): Promise<void> {
      if (hosts.mustWrite) {
        const { rows } = (await super.query('show transaction_read_only', [])) as pg.QueryResult;
        if (rows[0]?.transaction_read_only === 'on') {
          throw new Error(
            'the server takes no writes, and target_session_attrs asks for one that does',
          );
        }
      }
      const { processID } = this as unknown as Internals;
      const result = (await super.query(`select ${settings.join()} where pg_backend_pid() = $1`, [
        processID,
      ])) as pg.QueryResult;
      this.#isSessionLimited = result.rowCount === 1;
    }

    override query(...parameters: [string, unknown[]]): unknown {
      const [text, ...rest] = parameters;
      // The words are Kysely's.
      const begins = text === 'begin' || text.startsWith('start transaction');
      if (!begins || this.#isSessionLimited) return super.query(...parameters);
      const level = text.includes('isolation level') ? '' : ' isolation level read committed';
      // The statements travel together and cost one round trip.
      return super.query(`${text}${level}${timeout}`, ...rest);
    }
  };
}

/** After a query time-out the connection is useless: it is dropped, so that no query queues behind it. */
class DroppingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }

  // @ts-expect-error -- the typed overloads of `query` cannot be restated in a wrapper
  override query(...parameters: [string, unknown[]]): unknown {
    const result: unknown = super.query(...parameters);
    if (result instanceof Promise) {
      result.catch((error: Error) => {
        if (error.message !== 'Query read timeout') return;
        // `end` comes first: only that keeps the pool from reusing the connection before its socket is closed.
        void this.end();
        destroyConnection(this);
      });
    }
    return result;
  }
}

/** Closes the socket without a goodbye, which an unresponsive server would not read. */
export function destroyConnection(client: Pick<pg.Client, 'end'>): void {
  (client as unknown as Internals).connection.stream.destroy();
}

/** Members that pg does not declare. */
interface Internals {
  /** As the server, or the pooler before it, stated it. */
  readonly processID: number | null;
  readonly connection: { readonly stream: { destroy(): void } };
}

/** One parser for every column, because all values are requested as text. */
const typeParser: typeof pg.types.getTypeParser = (oid, format) => {
  if (oid === int8) return BigInt;
  if (oid === numeric) return toNumeric;
  return pg.types.getTypeParser(oid, format) as unknown;
};

function toNumeric(text: string): number | bigint {
  return text.includes('.') ? Number(text) : BigInt(text);
}

/** Applies the rule of `integers.ts` to the driver's results. */
export const integerPlugin: KyselyPlugin = {
  transformQuery: ({ node }: PluginTransformQueryArgs) => node,
  async transformResult({ result }: PluginTransformResultArgs) {
    for (const row of result.rows) {
      for (const name in row) {
        const value = row[name];
        if (typeof value === 'bigint' && !moneyColumns.has(name)) row[name] = Number(value);
      }
    }
    return result;
  },
};
