export type { FirstStart } from './first-start.ts';
export { applyFile, prepareDatabase } from './prepare-database.ts';
export { startSimulatorProcess, type SimulatorProcess } from './simulator-process.ts';
