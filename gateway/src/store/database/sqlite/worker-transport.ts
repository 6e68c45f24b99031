import { Worker } from 'node:worker_threads';
import { createRestartBudget } from '../restart-budget.ts';
import type { SqliteRequest, SqliteResult, SqliteTransport } from './connection.ts';

export interface WorkerRequest {
  readonly id: number;
  /** Null: close the file and end. */
  readonly request: SqliteRequest | null;
}

export type WorkerReply =
  | { readonly id: number; readonly result: SqliteResult }
  | {
      readonly id: number;
      readonly error: {
        readonly message: string;
        readonly code?: string;
        readonly errcode?: number;
      };
    };

interface Pending {
  readonly resolve: (result: SqliteResult) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs statements in a worker thread, so that file access never delays requests. If the thread dies, its pending
 * statements fail, as they would after losing a server connection, and the next statement starts a new thread. The new
 * thread has no open transaction, so the rest of an interrupted transaction fails too.
 */
export function createWorkerTransport(file: string): SqliteTransport {
  const pending = new Map<number, Pending>();
  const restarts = createRestartBudget();
  let lastId = 0;
  let lastFailure = new Error('the database thread ended');
  let isClosed = false;
  let worker: Worker | null = start();

  function start(): Worker {
    const startedWorker = new Worker(new URL('./sqlite.worker.ts', import.meta.url), {
      workerData: { file },
      name: 'sluice-sqlite',
    });
    // An idle database does not keep the process alive; a running statement does.
    startedWorker.unref();
    let cause: unknown;
    startedWorker.on('message', (reply: WorkerReply) => {
      const waiting = pending.get(reply.id);
      pending.delete(reply.id);
      if (pending.size === 0) startedWorker.unref();
      if ('result' in reply) waiting?.resolve(reply.result);
      else waiting?.reject(Object.assign(new Error(reply.error.message), reply.error));
    });
    startedWorker.on('error', (error) => {
      cause = error;
    });
    // Arrives after the last message.
    startedWorker.on('exit', () => {
      worker = null;
      lastFailure = new Error('the database thread ended', { cause });
      for (const waiting of pending.values()) waiting.reject(lastFailure);
      pending.clear();
    });
    return startedWorker;
  }

  /** @throws Error if the database is closed, or its thread died too often. */
  function running(): Worker {
    if (isClosed) throw new Error('the database is closed');
    if (worker !== null) return worker;
    if (restarts.take() > 0) throw lastFailure;
    worker = start();
    return worker;
  }

  function post(to: Worker, request: SqliteRequest | null): Promise<SqliteResult> {
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      pending.set(id, { resolve, reject });
      to.ref();
      to.postMessage({ id, request } satisfies WorkerRequest);
    });
  }

  return {
    execute: async (request) => post(running(), request),
    async close() {
      if (isClosed) return;
      isClosed = true;
      if (worker === null) return;
      const ending = worker;
      await post(ending, null);
      await ending.terminate();
    },
  };
}
