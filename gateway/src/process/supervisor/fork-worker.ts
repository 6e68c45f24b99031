import cluster, { type Worker } from 'node:cluster';
import type { SendHandle, Serializable } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { WorkerEvents, WorkerProcess } from './worker-pool.ts';
import { isMessage, workerNumberVariable, type FromWorker } from './messages.ts';

/**
 * Creates workers: this program again, with the same arguments. The supervisor accepts connections and distributes them
 * in turn: with the kernel's port sharing some workers idle while others carry long streams.
 * @param workers the number of workers
 */
export function workerForks(workers: number) {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // With a worker on every core, a concurrent marking thread of one would take another one's core (see `main.js`).
  const flags = workers >= availableParallelism() ? ['--no-concurrent-marking'] : [];
  // Times are bigint and secrets are bytes, which JSON cannot carry.
  cluster.setupPrimary({ serialization: 'advanced', execArgv: [...process.execArgv, ...flags] });
  return forkWorker;
}

function forkWorker(number: number, events: WorkerEvents): WorkerProcess {
  const worker = cluster.fork({ [workerNumberVariable]: String(number) });
  closeUntakenConnection(worker);
  worker.on('message', (message: unknown) => {
    if (isMessage(message)) events.onMessage(message as FromWorker);
  });
  let hasEnded = false;
  const end = (code: number | null): void => {
    if (!hasEnded) events.onExit(code);
    hasEnded = true;
  };
  worker.on('exit', end);
  worker.on('error', () => {
    // Without a pid the fork itself failed. Any other error is a message to a worker that is ending.
    if (worker.process.pid === undefined) end(1);
  });
  return {
    send(message) {
      if (worker.isConnected()) worker.send(message, () => {});
    },
  };
}

/**
 * Closes the connection that a worker had yet to take when it died. Node keeps the supervisor's end of a connection
 * open until the worker has confirmed it, and hands over one at a time: without this, its client would wait for as long
 * as it likes.
 */
function closeUntakenConnection({ process: child }: Worker): void {
  let untaken: Connection | null = null;
  const send = child.send.bind(child);
  // Node's own calls have these two parameters, and ours a callback.
  child.send = ((message: Serializable, connection?: Connection) => {
    if (typeof connection !== 'object') return send(message, connection);
    untaken = connection;
    return send(message, connection as unknown as SendHandle);
  }) as typeof child.send;
  // First, because Node hands over the next connection when it hears of this one.
  child.prependListener('internalMessage', (message: object) => {
    if ('accepted' in message) untaken = null;
  });
  // Behind the last confirmation, which may come after `exit`; `disconnect` waits for the one that never comes.
  child.once('close', () => untaken?.close());
}

/** A handle of Node's. */
interface Connection {
  close(): void;
}
