import {
  type Dialect,
  type DialectAdapter,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { createSqliteDriver } from './driver.ts';
import type { SqliteTransport } from './connection.ts';

/** Kysely on `node:sqlite`, which Kysely's own SQLite dialect does not support. */
export function createSqliteDialect(transport: SqliteTransport): Dialect {
  return {
    createAdapter: () => new Adapter(),
    createDriver: () => createSqliteDriver(transport),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class Adapter extends SqliteAdapter implements DialectAdapter {
  /** The driver itself queues writers and lets readers pass. */
  override get supportsMultipleConnections() {
    return true;
  }

  /** All migrations run in one `begin immediate` transaction, where processes that start together queue. */
  override get supportsTransactionalDdl() {
    return true;
  }
}
