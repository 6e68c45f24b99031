import type { OpenDatabase } from '#database/index.ts';
import {
  isDataError,
  readLines,
  recordUsage,
  splitLines,
  type RecordUsageOptions,
  type StoredLines,
} from '#usage/index.ts';
import type { Batch, JournalFile } from './journal-file.repository.ts';
import type { FromApplier } from './messages.ts';

export interface ApplierOptions {
  readonly file: JournalFile;
  readonly database: OpenDatabase;
  readonly report: (message: FromApplier) => void;
  /** Batches up to this one are applied. */
  readonly appliedUpTo: number;
  /** The last batch of the previous process, which may have applied it. */
  readonly leftOver: number;
}

/** Interval between checks of the journal. */
const pollInterval = 100;
/** Under load, records are gathered for this long: larger transactions write each index page less often. */
const gatherTime = 500;
/** Up to this number records are applied at once; beyond it, more are gathered. */
const few = 50;
const enough = 1_500;
/** Maximum characters handled at once. */
const maxLength = 8 * 2 ** 20;
const longestPause = 5_000;

/** Moves batches from the journal to the database, in order, until it has been asked to drain and nothing is left. */
export function createApplier({ file, database, report, appliedUpTo, leftOver }: ApplierOptions) {
  let applied = appliedUpTo;
  /** By a monotonic clock: a wall clock that was set back would stop everything for that long. */
  let lastTime = -Infinity;
  let draining = false;
  let pause = pollInterval;
  let wake = () => {};

  async function run(): Promise<void> {
    for (;;) {
      const { count } = file.pendingAfter(applied);
      if (count === 0) {
        if (draining) return;
        await wait(pollInterval);
      } else if (isDue(count)) {
        await applyNext();
      } else {
        await wait(pollInterval);
      }
    }
  }

  /** Ends early when it must drain. */
  function wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  function isDue(count: number): boolean {
    return (
      draining || count <= few || count >= enough || performance.now() - lastTime >= gatherTime
    );
  }

  async function applyNext(): Promise<void> {
    const batches = take(file.after(applied, enough));
    const [first] = batches;
    const last = batches.at(-1);
    if (first === undefined || last === undefined) return;
    lastTime = performance.now();
    try {
      await write(batches, { isLeftOver: first.id <= leftOver });
    } catch (error) {
      report({ kind: 'away', message: (error as Error).message });
      await wait(pause);
      pause = Math.min(pause * 2, longestPause);
      return;
    }
    pause = pollInterval;
    applied = last.id;
    const bytes = batches.reduce((sum, batch) => sum + batch.lines.length, 0);
    const count = batches.reduce((sum, batch) => sum + batch.count, 0);
    report({ kind: 'applied', upTo: applied, count, bytes });
  }

  /** @throws the database's error if it is unreachable. */
  async function write(
    batches: readonly StoredLines[],
    options: RecordUsageOptions,
  ): Promise<void> {
    try {
      await record(batches, options);
    } catch (error) {
      if (!isDataError(error)) throw error;
      for (const batch of batches) await writeOneByOne(batch, options);
    }
  }

  async function record(
    batches: readonly StoredLines[],
    options: RecordUsageOptions,
  ): Promise<void> {
    const lines = readLines(batches);
    await database.kysely.transaction().execute((trx) => recordUsage(trx, lines, options));
  }

  /** One record that the database refuses must not block the others forever. */
  async function writeOneByOne(
    { version, lines }: StoredLines,
    options: RecordUsageOptions,
  ): Promise<void> {
    for (const text of linesIn(lines)) {
      try {
        await record([{ version, lines: text }], options);
      } catch (error) {
        if (!isDataError(error)) throw error;
        const { message } = error as Error;
        file.reject(text, message);
        report({ kind: 'rejected', message });
      }
    }
  }

  return {
    run,
    drain() {
      draining = true;
      pause = pollInterval;
      wake();
    },
  };
}

/** Each line of a batch; the whole text when it is damaged so that they cannot be told apart. */
function linesIn(lines: string): readonly string[] {
  try {
    return splitLines(lines).map((line) => JSON.stringify(line));
  } catch {
    return [lines];
  }
}

/** The first batches within the limits. */
function take(batches: readonly Batch[]): readonly Batch[] {
  let count = 0;
  let length = 0;
  const end = batches.findIndex((batch) => {
    count += batch.count;
    length += batch.lines.length;
    return count >= enough || length >= maxLength;
  });
  return end === -1 ? batches : batches.slice(0, end + 1);
}
