import { createTrouble } from '#database/index.ts';
import { startApplierHalf } from './applier-half.ts';
import { Backlog } from './backlog.ts';
import type { Journal, JournalProblem } from './journal.ts';
import { openWriterHalf } from './writer-half.ts';

export interface JournalOptions {
  readonly dataDir: string;
  /** The node that the journal belongs to, for the note of a loss; default: the folder. */
  readonly node?: string;
  /** Bytes of records that may wait for the database. */
  readonly maxSize: number;
  readonly databaseUrl: string;
  /** Milliseconds for which usage rows are kept in the database; default: forever. */
  readonly keepUsage?: number;
  /** Milliseconds for which applied records stay in the journal, as far as there is room; default: 10 minutes. */
  readonly replay?: number;
  /** Whether `spentWithLeftOver` is wanted. */
  readonly findsSpent?: boolean;
  /** Milliseconds between looks at a journal with nothing new to apply; default: 100. */
  readonly lookEvery?: number | undefined;
  /** Receives problems for the operator; the journal itself continues. */
  readonly onProblem?: (problem: JournalProblem) => void;
  /** Called when the database has noted a loss. */
  readonly onLoss?: (() => void) | undefined;
  /** Called when such a problem, which is reported once, has ended. */
  readonly onRecovery?: (kind: 'write-failed' | 'database-away') => void;
}

/** Applied records take no more. */
const mostApplied = 64 * 2 ** 20;

/**
 * Opens the journal of this folder; records of an earlier process are applied first.
 * @throws Error if another process has it open, or the folder is not writable.
 */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { dataDir, node = dataDir, databaseUrl, maxSize, replay = 600_000 } = options;
  const onProblem = (kind: JournalProblem['kind'], message: string) =>
    options.onProblem?.({ kind, message });
  const troubleOf = (kind: 'write-failed' | 'database-away') =>
    createTrouble(
      (message) => onProblem(kind, message),
      () => options.onRecovery?.(kind),
    );
  const now = () => performance.now();
  const backlog = new Backlog(now);
  const writer = await openWriterHalf({
    dataDir,
    maxSize,
    keep: { time: replay, bytes: mostApplied },
    backlog,
    now,
    onProblem,
    trouble: troubleOf('write-failed'),
  });
  const applier = startApplierHalf({
    settings: {
      dataDir,
      node,
      leftBehind: writer.leftBehind,
      databaseUrl,
      keepUsage: options.keepUsage ?? null,
      findsSpent: options.findsSpent ?? false,
      lookEvery: options.lookEvery ?? 100,
    },
    backlog,
    onApplied: writer.applied,
    onProblem,
    trouble: troubleOf('database-away'),
    onLoss: options.onLoss,
  });
  let closing: Promise<void> | null = null;

  async function close(timeoutMs: number): Promise<void> {
    const deadline = now() + timeoutMs;
    await writer.finish(deadline);
    await applier.close(deadline - now());
    await writer.close();
  }

  return {
    append: writer.append,
    begin: writer.begin,
    get usable() {
      return writer.usable;
    },
    get isAway() {
      return applier.isAway;
    },
    get lost() {
      return writer.lost;
    },
    get unfinished() {
      return applier.unfinished;
    },
    get depth() {
      return backlog.depth;
    },
    caughtUp: backlog.caughtUp,
    spentWithLeftOver: applier.spentWithLeftOver,
    get appliedUntil() {
      return backlog.appliedUntil;
    },
    onRejected: applier.onRejected,
    replay: applier.replay,
    close: (timeoutMs = 5_000) => (closing ??= close(timeoutMs)),
  };
}
