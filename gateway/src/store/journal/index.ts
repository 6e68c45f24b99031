export { condenseRefusals, type CondensedJournal, type RefusalsOptions } from './refusals.ts';
export { assertDataFolderFree } from './data-folder.ts';
export { openJournal, type JournalOptions, type JournalProblem } from './open.ts';
export { replayJournal, type Replayed } from './replay.ts';
export type { Intent } from './intents.ts';
export type { Journal } from './journal.ts';
