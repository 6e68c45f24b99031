export { condenseRefusals, type CondensedJournal, type RefusalsOptions } from './refusals.ts';
export { assertDataFolderFree } from './journal-file.repository.ts';
export { openJournal, type JournalOptions } from './open.ts';
export { replayJournal, type Replayed } from './replay.ts';
export type { Intent } from './intents.ts';
export type { Journal, JournalProblem } from './journal.ts';
