/** One statement to run. */
export interface SqliteRequest {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** `read`: the read-only connection, which never waits for a transaction of the other one. */
  readonly connection: 'read' | 'write';
  /** The statement belongs to a transaction that must still be open; otherwise it would commit by itself. */
  readonly inTransaction: boolean;
}

export interface SqliteResult {
  /** Empty for statements that return nothing. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly changes: number;
}

/** Where statements are run: in a worker thread, or here. */
export interface SqliteTransport {
  execute(request: SqliteRequest): Promise<SqliteResult>;
  /** Safe to call again. */
  close(): Promise<void>;
}
