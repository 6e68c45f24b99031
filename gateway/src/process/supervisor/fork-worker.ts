import cluster from 'node:cluster';
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
