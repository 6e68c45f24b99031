export type { FirstStart } from './first-start.ts';
export { applyLists, prepareDatabase, reapplyFile } from './prepare-database.ts';
export { formatSecrets } from './secrets-file.ts';
export { forgetUnshown } from './unshown-secrets.ts';
export { startSimulatorProcess, type SimulatorProcess } from './simulator-process.ts';
