export { createCrew, type Crew } from './crew.ts';
export { workerForks } from './fork-worker.ts';
export { takeSeat, type Seat } from './seat.ts';
