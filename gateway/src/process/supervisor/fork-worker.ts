import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import type { WorkerEvents, WorkerProcess } from './crew.ts';
import { isMessage, seatVariable, type FromWorker } from './messages.ts';

/**
 * Makes workers: this program once more, with the same arguments. The supervisor accepts connections and hands them out
 * in turn: the kernel's own ways of sharing a port leave some workers idle while others have long streams to carry.
 * @param workers how many there will be
 */
export function workerForks(workers: number) {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // A worker on every core: what marks memory beside one of them would take another one's core (see `main.js`).
  const flags = workers >= availableParallelism() ? ['--no-concurrent-marking'] : [];
  // Times are bigint and secrets are bytes, which JSON does not carry.
  cluster.setupPrimary({ serialization: 'advanced', execArgv: [...process.execArgv, ...flags] });
  return forkWorker;
}

function forkWorker(seat: number, events: WorkerEvents): WorkerProcess {
  const worker = cluster.fork({ [seatVariable]: String(seat) });
  worker.on('message', (message: unknown) => {
    if (isMessage(message)) events.onMessage(message as FromWorker);
  });
  let ended = false;
  const end = (code: number | null): void => {
    if (!ended) events.onExit(code);
    ended = true;
  };
  worker.on('exit', end);
  worker.on('error', () => {
    // What could not be sent, because it is ending.
    if (worker.process.pid === undefined) end(1);
  });
  return {
    send(message) {
      if (worker.isConnected()) worker.send(message, () => {});
    },
  };
}
