export { createWorkerPool, type WorkerPool } from './worker-pool.ts';
export { workerForks } from './fork-worker.ts';
export { connectToSupervisor, type SupervisorLink } from './supervisor-link.ts';
