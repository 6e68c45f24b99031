import {
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  PostgresDialect,
} from 'kysely';
import pg from 'pg';
import { moneyColumns } from './integers.ts';

const { INT8: int8, NUMERIC: numeric } = pg.types.builtins;

export interface PostgresOptions {
  readonly url: string;
  readonly maxConnections: number;
  /** Milliseconds; 0 = none. */
  readonly statementTimeout: number;
}

/** PostgreSQL through a pool of connections that are opened when they are needed. */
export function createPostgresDialect(options: PostgresOptions): PostgresDialect {
  const { statementTimeout } = options;
  const pool = new pg.Pool({
    Client: DroppingClient as unknown as new () => pg.ClientBase,
    connectionString: options.url,
    max: options.maxConnections,
    connectionTimeoutMillis: 2_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    allowExitOnIdle: true,
    application_name: 'sluice',
    statement_timeout: statementTimeout,
    // The server's own timeout does not help when the server, or the way to it, is frozen.
    ...(statementTimeout === 0 ? {} : { query_timeout: statementTimeout + 500 }),
    types: { getTypeParser: typeParser },
  });
  // An idle connection that breaks is replaced at the next query; without a listener it would end the process.
  pool.on('error', () => {});
  return new PostgresDialect({ pool });
}

/** A connection whose query got no answer in time is of no more use: drop it instead of queueing behind it. */
class DroppingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }

  // @ts-expect-error -- the typed overloads of `query` cannot be restated in a wrapper
  override query(...parameters: [string, unknown[]]): unknown {
    const answer: unknown = super.query(...parameters);
    if (answer instanceof Promise) {
      answer.catch((error: Error) => {
        if (error.message !== 'Query read timeout') return;
        // Ending it comes first: only that keeps the pool from giving it to the next query before its socket is closed.
        void this.end();
        destroyConnection(this);
      });
    }
    return answer;
  }
}

/** Without a goodbye, which a server that does not answer would not take. */
export function destroyConnection(client: Pick<pg.Client, 'end'>): void {
  (client as unknown as Internals).connection.stream.destroy();
}

/** What pg does not declare. */
interface Internals {
  readonly connection: { readonly stream: { destroy(): void } };
}

/** For everything, as everything is asked for as text. */
const typeParser: typeof pg.types.getTypeParser = (oid, format) => {
  if (oid === int8) return BigInt;
  if (oid === numeric) return toNumeric;
  return pg.types.getTypeParser(oid, format) as unknown;
};

function toNumeric(text: string): number | bigint {
  return text.includes('.') ? Number(text) : BigInt(text);
}

/** Applies the rule of `integers.ts` to what the driver returned. */
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
