import { openSqliteConnection } from './connection.ts';
import type { SqliteTransport } from './transport.ts';

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
