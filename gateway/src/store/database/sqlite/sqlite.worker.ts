import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteConnection, type SqliteConnection } from './connection.ts';
import type { WorkerReply, WorkerRequest } from './worker-transport.ts';

const { file } = workerData as { file: string };
let connection: SqliteConnection | null = null;

parentPort?.on('message', ({ id, request }: WorkerRequest) => {
  parentPort?.postMessage(answer(id, request));
});

function answer(id: number, request: WorkerRequest['request']): WorkerReply {
  try {
    if (request === null) {
      connection?.close();
      return { id, result: { columns: [], rows: [], changes: 0 } };
    }
    // Opened with the first statement, so that an unusable file fails that statement.
    connection ??= openSqliteConnection(file);
    return { id, result: connection.execute(request) };
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
    return {
      id,
      error: {
        message,
        ...(code === undefined ? {} : { code }),
        ...(errcode === undefined ? {} : { errcode }),
      },
    };
  }
}
