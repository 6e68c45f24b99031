import { type CompiledQuery, type DatabaseConnection, type Driver, type QueryResult } from 'kysely';
import type { SqliteResult, SqliteTransport } from './connection.ts';

/**
 * Hands out any number of Kysely connections over one transport. Statements that write, and whole
 * transactions, take turns; plain selects outside a transaction go to the reading connection at once.
 */
export function createSqliteDriver(transport: SqliteTransport): Driver {
  const writers = createQueue();
  const savepoint = (prefix: string) => (connection: DatabaseConnection, name: string) =>
    (connection as Connection).command(`${prefix} "${name.replaceAll('"', '""')}"`);

  return {
    init: async () => {},
    acquireConnection: async () => new Connection(transport, writers),
    beginTransaction: (connection) => (connection as Connection).begin(),
    commitTransaction: (connection) => (connection as Connection).end('commit'),
    rollbackTransaction: (connection) => (connection as Connection).end('rollback'),
    savepoint: savepoint('savepoint'),
    rollbackToSavepoint: savepoint('rollback to'),
    releaseSavepoint: savepoint('release'),
    releaseConnection: async () => {},
    destroy: () => transport.close(),
  };
}

/** Releases the turn. Idempotent. */
type Release = () => void;

/** First come, first served: `take` resolves when everybody before has released. */
function createQueue(): { take(): Promise<Release> } {
  let last: Promise<void> = Promise.resolve();
  return {
    async take() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = last;
      last = promise;
      await before;
      return resolve;
    },
  };
}

class Connection implements DatabaseConnection {
  readonly #transport: SqliteTransport;
  readonly #writers: ReturnType<typeof createQueue>;
  /** Set while this connection's transaction is open. */
  #turn: Release | null = null;

  constructor(transport: SqliteTransport, writers: ReturnType<typeof createQueue>) {
    this.#transport = transport;
    this.#writers = writers;
  }

  async begin(): Promise<void> {
    const turn = await this.#writers.take();
    try {
      // Immediate: takes the lock at the start, where waiting for it is safe. A deferred transaction that begins with a
      // read fails at its first write if another process wrote in between.
      await this.#run('begin immediate', [], 'write', false);
      this.#turn = turn;
    } catch (error) {
      turn();
      throw error;
    }
  }

  async end(how: 'commit' | 'rollback'): Promise<void> {
    const turn = this.#turn;
    try {
      await this.command(how);
      // After a failed commit Kysely rolls back; only then may the next writer start.
      this.#turn = null;
      turn?.();
    } catch (error) {
      if (how === 'rollback') {
        this.#turn = null;
        turn?.();
      }
      throw error;
    }
  }

  async command(sql: string): Promise<void> {
    await this.#run(sql, [], 'write', true);
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const { sql, parameters } = query;
    if (this.#turn !== null) return toRows(await this.#run(sql, parameters, 'write', true));
    if (query.query.kind === 'SelectQueryNode') {
      return toRows(await this.#run(sql, parameters, 'read', false));
    }
    const turn = await this.#writers.take();
    try {
      return toRows(await this.#run(sql, parameters, 'write', false));
    } finally {
      turn();
    }
  }

  // oxlint-disable-next-line require-yield -- Kysely's contract wants a generator
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streamed queries are not offered: read in pages');
  }

  #run(
    sql: string,
    parameters: readonly unknown[],
    connection: 'read' | 'write',
    inTransaction: boolean,
  ): Promise<SqliteResult> {
    return this.#transport.execute({ sql, parameters, connection, inTransaction });
  }
}

function toRows<Row>({ columns, rows, changes }: SqliteResult): QueryResult<Row> {
  const objects = rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < columns.length; index++) {
      row[columns[index] as string] = values[index];
    }
    return row as Row;
  });
  return { rows: objects, numAffectedRows: BigInt(changes) };
}
