import cluster from 'node:cluster';
import type { WorkerEvents, WorkerProcess } from './crew.ts';
import { isMessage, seatVariable, type FromWorker } from './messages.ts';

/**
 * This program once more, with the same arguments. The supervisor accepts connections and hands them out in turn:
 * the kernel's own ways of sharing a port leave some workers idle while others have long streams to carry.
 */
export function forkWorker(seat: number, events: WorkerEvents): WorkerProcess {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // Times are bigint and secrets are bytes, which JSON does not carry.
  cluster.setupPrimary({ serialization: 'advanced' });
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
