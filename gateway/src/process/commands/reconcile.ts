import type { OpenDatabase } from '#database/index.ts';
import type { Replayed } from '#journal/index.ts';
import type { Difference } from '#ledger/index.ts';
import { readDatabase } from './command-config.ts';
import {
  type Command,
  commonOptions,
  exitCode,
  printJson,
  readTimes,
  timeOptions,
} from './command.ts';

export const reconcileCommand: Command = {
  name: 'reconcile',
  description:
    'Changes no book and can run beside the gateway. Adds up every receipt again and compares every posting and\n' +
    'every total with its rows; with a time range, only the rows and hours in it. Exits with 1 if anything differs.\n' +
    'Run it daily.',
  options: {
    ...timeOptions,
    to: { type: 'string', value: 'TIME', help: 'the same form; exclusive' },
    replay: {
      type: 'boolean',
      help: 'before that, write again to the database what is still in the journals of this machine',
    },
    'acknowledge-losses': {
      type: 'boolean',
      help: 'take note of records that journals have lost: they are no longer reported',
    },
    ...commonOptions,
  },
  positionals: [],
  async run(input, io) {
    const range = await readTimes(input);
    const asJson = input.flag('json');
    const shownDifferences: Difference[] = [];
    let count = 0;
    let replayed: Replayed | null = null;
    let late = { count: 0, amount: 0n };
    const checkedCounts = await readDatabase(input, io, async ({ database }, config) => {
      const { acknowledgeLosses, lateCharges, reconcile } = await import('#ledger/index.ts');
      if (input.flag('replay')) replayed = await replayAll(config.storage.dataDir, database);
      if (replayed !== null && !asJson) io.stdout(`${describeReplay(replayed)}\n`);
      if (input.flag('acknowledge-losses')) await acknowledgeLosses(database.kysely, Date.now());
      late = await lateCharges(database.kysely, range);
      return reconcile(database, range, (difference) => {
        count += 1;
        if (!asJson) io.stdout(`${describe(difference)}\n`);
        else if (shownDifferences.length < maxShown) shownDifferences.push(difference);
      });
    });
    const { formatUsd } = await import('#database/index.ts');
    if (asJson) {
      const repaired = replayed === null ? {} : { replayed };
      printJson(io, {
        ok: count === 0,
        checked: checkedCounts,
        differences: count,
        first: shownDifferences,
        late: { rows: late.count, usd: formatUsd(late.amount) },
        ...repaired,
      });
    } else {
      if (late.count > 0) {
        io.stdout(
          `${countOf(late.count, 'rows')} charged without a lease: ${formatUsd(late.amount)} USD, by which limits may be exceeded\n`,
        );
      }
      io.stdout(
        `${summary(checkedCounts)}: ${count === 0 ? 'no differences' : countOf(count, 'differences')}\n`,
      );
    }
    return count === 0 ? exitCode.done : exitCode.failed;
  },
};

/** Replays the journals of the gateway and of its workers. */
async function replayAll(dataDir: string, database: OpenDatabase): Promise<Replayed> {
  const { replayJournal } = await import('#journal/index.ts');
  const { journalFolders, hasJournal } = await import('#nodes/index.ts');
  const folders = [dataDir, ...journalFolders(dataDir)].filter(hasJournal);
  if (folders.length === 0) throw new Error(`there is no journal in ${dataDir}`);
  let records = 0;
  let restoredRows = 0;
  for (const folder of folders) {
    const replayed = await replayJournal(folder, database);
    records += replayed.records;
    restoredRows += replayed.restored;
  }
  return { records, restored: restoredRows };
}

function describeReplay({ records, restored }: Replayed): string {
  return `${countOf(records, 'records')} in the journal, ${restored} of them written again`;
}

/** Differences in one JSON result. */
const maxShown = 1_000;

function describe({ check, subject, expected, found }: Difference): string {
  return `${check} ${subject}: expected ${expected}, found ${found}`;
}

function summary(checkedCounts: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(checkedCounts)
    .map(([what, count]) => countOf(count ?? 0, what))
    .join(', ');
}

/** @param what in the plural */
function countOf(count: number, what: string): string {
  return `${count} ${count === 1 ? what.slice(0, -1) : what}`;
}
