import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from '#database/index.ts';
import { keepUsageFor, removeStateWhenExpired } from '#usage/index.ts';
import { createApplier } from './applier.ts';
import { openJournalFile } from './journal-file.repository.ts';
import { spentWithLeftOver } from './left-over.repository.ts';
import { beginning, openMarkFile } from './mark.ts';
import type { ApplierSettings, FromApplier, ToApplier } from './messages.ts';
import { stepBack } from './step-back.ts';
import { recordUnfinished } from './unfinished.repository.ts';

const { dataDir, applied, node, leftBehind, databaseUrl, keepUsage, findsSpent, lookEvery } =
  workerData as ApplierSettings;

stepBack();
const file = openJournalFile(dataDir);
const marks = openMarkFile(dataDir);
const database = openDatabase({
  url: databaseUrl,
  // This thread may block: it has no other work.
  transport: 'in-thread',
  maxConnections: 1,
  statementTimeout: 10_000,
});
/** The last batch of the previous process. */
const leftOver = file.lastId();
const start = applied ?? marks.read()?.applied ?? beginning;
const applier = createApplier({
  file,
  marks,
  database,
  node,
  report,
  applied: start,
  leftOver,
  lookEvery,
  async whenCaughtUp() {
    const count = await recordUnfinished(database, file, leftBehind);
    if (count > 0) report({ kind: 'unfinished', count });
  },
});

// This thread empties the write-ahead log, so that no commit ever waits for it.
const checkpoints = setInterval(() => {
  try {
    file.checkpoint();
    marks.sync();
  } catch {
    // The disk accepts nothing: the writer reports it, and this thread has other work.
  }
}, 1_000);

const stopRetention =
  keepUsage === null
    ? () => {}
    : keepUsageFor({
        database,
        keep: keepUsage,
        mayStart: () => applier.applied.id >= leftOver,
        onProblem: notRemoved,
      });
const stopStateRetention = removeStateWhenExpired({ database, onProblem: notRemoved });

parentPort?.on('message', (message: ToApplier) => {
  if (message.kind === 'drain') applier.drain();
  else applier.replay();
});

if (findsSpent && applied === null) await findSpent();
await applier.run();
stopRetention();
stopStateRetention();
clearInterval(checkpoints);
file.close();
marks.close();
await database.close();
parentPort?.close();

async function findSpent(): Promise<void> {
  try {
    report({
      kind: 'spent',
      meters: await spentWithLeftOver(database, file, start.id, leftBehind),
    });
  } catch {
    // The applier meets the same trouble and reports it. Then requests wait until everything is applied.
  }
}

function notRemoved(message: string): void {
  report({ kind: 'not-removed', message });
}

function report(message: FromApplier): void {
  parentPort?.postMessage(message);
}
