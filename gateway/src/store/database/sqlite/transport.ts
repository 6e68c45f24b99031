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
