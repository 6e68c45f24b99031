import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Kysely } from 'kysely';
import { createNotifications, type Listen } from './listening.ts';
import { createPostgresDialect, integerPlugin } from './postgres.ts';
import type { Database } from './schema.ts';
import { createInThreadTransport } from './sqlite/connection.ts';
import { createSqliteDialect } from './sqlite/dialect.ts';
import { createWorkerTransport } from './sqlite/worker-transport.ts';

export interface DatabaseOptions {
  /** `sqlite:<file>` (relative to the working directory) or `postgres://…`. */
  readonly url: string;
  /** SQLite only. `worker` (default): its own thread. `in-thread`: for code that already runs in a worker. */
  readonly transport?: 'worker' | 'in-thread';
  /** PostgreSQL only: milliseconds, default 1 000; 0 for migrations and maintenance. */
  readonly statementTimeout?: number;
  /** PostgreSQL only: default 4. */
  readonly maxConnections?: number;
}

export interface OpenDatabase {
  readonly kysely: Kysely<Database>;
  readonly dialect: 'sqlite' | 'postgres';
  /** Listens over one connection for all; null: this database sends no notifications. */
  readonly listen: Listen | null;
  close(): Promise<void>;
}

/** Opens the database lazily: the first statement connects. Run `migrate` before anything else. */
export function openDatabase(options: DatabaseOptions): OpenDatabase {
  const { url } = options;
  if (/^postgres(ql)?:\/\//.test(url)) {
    const dialect = createPostgresDialect({
      url,
      maxConnections: options.maxConnections ?? 4,
      statementTimeout: options.statementTimeout ?? 1_000,
    });
    const kysely = new Kysely<Database>({ dialect, plugins: [integerPlugin] });
    const notifications = createNotifications(url);
    return {
      kysely,
      dialect: 'postgres',
      listen: notifications.listen,
      async close() {
        notifications.close();
        await kysely.destroy();
      },
    };
  }
  const file = sqliteFile(url);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const transport =
    options.transport === 'in-thread' ? createInThreadTransport(file) : createWorkerTransport(file);
  const kysely = new Kysely<Database>({ dialect: createSqliteDialect(transport) });
  return {
    kysely,
    dialect: 'sqlite',
    listen: null,
    async close() {
      await kysely.destroy();
      // Kysely does not destroy an unused driver, whose thread would keep the process alive.
      await transport.close();
    },
  };
}

/** @throws Error if the URL names no file. */
function sqliteFile(url: string): string {
  const file = /^sqlite:(?!\/\/)(.+)$/.exec(url)?.[1];
  if (file === undefined || file.startsWith(':')) {
    throw new Error(`storage.url: expected sqlite:<file> or postgres://…, got '${redact(url)}'`);
  }
  return resolve(file);
}

function redact(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//…@');
}
