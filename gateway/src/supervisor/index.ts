export { createCrew, type Crew } from './crew.ts';
export { forkWorker } from './fork-worker.ts';
export { takeSeat, type Seat } from './seat.ts';
