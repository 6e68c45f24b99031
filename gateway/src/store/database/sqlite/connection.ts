import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { moneyColumns } from '../integers.ts';

/** One statement to run. */
export interface SqliteRequest {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** `read`: the read-only connection, which never waits for a transaction of the writing one. */
  readonly connection: 'read' | 'write';
  /** The statement requires its transaction to be still open; otherwise it would commit by itself. */
  readonly inTransaction: boolean;
}

export interface SqliteResult {
  /** Empty for statements that return nothing. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly changes: number;
}

/** Runs statements in a worker thread or on this one. */
export interface SqliteTransport {
  execute(request: SqliteRequest): Promise<SqliteResult>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Compiled statements kept per connection. */
const maxPrepared = 200;

/** Maximum wait for a lock of another process or thread, in milliseconds. */
const busyTimeout = 5_000;

interface Prepared {
  readonly statement: StatementSync;
  readonly columns: readonly string[];
  /** Whether the column at each position is money; null if none is. */
  readonly money: readonly boolean[] | null;
}

export interface SqliteConnection {
  execute(request: SqliteRequest): SqliteResult;
  close(): void;
}

/**
 * Opens the file twice: one connection for writing, one for reading. In WAL mode a reader sees the last commit and
 * waits for nobody. `synchronous=FULL`: a returned commit survives a power cut, because balances are stored here. All
 * calls are synchronous: use it on a thread that may block.
 */
export function openSqliteConnection(file: string): SqliteConnection {
  const write = openFile(file, false);
  write.exec('pragma journal_mode = wal');
  // A batch of usage rows touches a page of every index per row. With the default cache of 2 MB, pages would be written
  // several times within one transaction, and again by too frequent checkpoints.
  write.exec('pragma cache_size = -16000; pragma wal_autocheckpoint = 4000');
  // Otherwise every statement journal for rollback is a file of its own.
  write.exec('pragma temp_store = memory');
  const read = openFile(file, true);
  const caches = { read: createCache(read), write: createCache(write) };

  return {
    execute({ sql, parameters, connection, inTransaction }) {
      if (inTransaction && !write.isTransaction) {
        if (sql === 'rollback') return { columns: [], rows: [], changes: 0 };
        throw new Error('the transaction was rolled back by the database');
      }
      return runStatement(caches[connection](sql), parameters as readonly SQLInputValue[]);
    },
    close() {
      read.close();
      write.close();
    },
  };
}

function openFile(file: string, readOnly: boolean): DatabaseSync {
  const database = new DatabaseSync(file, {
    readOnly,
    timeout: busyTimeout,
    enableForeignKeyConstraints: true,
  });
  database.exec('pragma synchronous = full');
  return database;
}

function createCache(database: DatabaseSync): (sql: string) => Prepared {
  const cache = new Map<string, Prepared>();
  return (sql) => {
    const cachedStatement = cache.get(sql);
    if (cachedStatement !== undefined) {
      // Evicts the least recently used: a Map iterates in insertion order.
      cache.delete(sql);
      cache.set(sql, cachedStatement);
      return cachedStatement;
    }
    const newStatement = prepare(database, sql);
    if (cache.size >= maxPrepared) cache.delete(cache.keys().next().value ?? '');
    cache.set(sql, newStatement);
    return newStatement;
  };
}

function prepare(database: DatabaseSync, sql: string): Prepared {
  const statement = database.prepare(sql);
  const columns = statement.columns().map((column) => column.name);
  const money = columns.map((name) => moneyColumns.has(name));
  const anyMoney = money.includes(true);
  statement.setReadBigInts(anyMoney);
  statement.setReturnArrays(true);
  return { statement, columns, money: anyMoney ? money : null };
}

function runStatement(
  { statement, columns, money }: Prepared,
  parameters: readonly SQLInputValue[],
) {
  if (columns.length === 0) {
    const { changes } = statement.run(...parameters);
    return { columns, rows: [], changes: Number(changes) };
  }
  // With setReturnArrays each row is an array, which the types do not express.
  const rows = statement.all(...parameters) as unknown as unknown[][];
  if (money !== null) for (const row of rows) narrowOthers(row, money);
  return { columns, rows, changes: rows.length };
}

function narrowOthers(row: unknown[], money: readonly boolean[]): void {
  for (let index = 0; index < row.length; index++) {
    if (typeof row[index] === 'bigint' && money[index] !== true) row[index] = Number(row[index]);
  }
}

/** Runs statements on the calling thread, for code that already runs in a worker. */
export function createInThreadTransport(file: string): SqliteTransport {
  const connection = openSqliteConnection(file);
  let isOpen = true;
  return {
    execute: async (request) => connection.execute(request),
    async close() {
      if (isOpen) connection.close();
      isOpen = false;
    },
  };
}
