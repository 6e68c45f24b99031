import { createTrouble, type OpenDatabase } from '#database/index.ts';
import type { LeasedPart } from '#leases/index.ts';
import { createBatchWriter, linesIn } from './batch-writer.ts';
import type { JournalFile } from './journal-file.repository.ts';
import type { Mark, Place } from './mark.ts';
import type { FromApplier } from './messages.ts';
import { readOn, type Reading } from './read-on.ts';
import { replayFile } from './replay.ts';

export interface ApplierOptions {
  readonly file: Pick<JournalFile, 'after' | 'one' | 'reject'>;
  /** The mark of the writer. */
  readonly marks: { read(): Mark | null };
  readonly database: OpenDatabase;
  /** The id of the node that the journal belongs to. */
  readonly node: string;
  readonly report: (message: FromApplier) => void;
  /** Everything up to here is applied. */
  readonly applied: Place;
  /** The last batch of the previous process, which may have applied it. */
  readonly leftOver: number;
  /** Called once when everything of the previous process is applied, and again later if it fails. */
  readonly whenCaughtUp?: () => Promise<void>;
  /** Milliseconds between looks at a journal with nothing to apply yet. */
  readonly lookEvery: number;
}

/** The first pause after a failure of the database. */
const shortestPause = 100;
/** Under load, records are gathered for this long: larger transactions write each index page less often. */
const gatherTime = 500;
/** Up to this number records are applied at once; beyond it, more are gathered. */
const few = 50;
const enough = 1_500;
/**
 * Records of one transaction. With a backlog they grow, which writes three times as much per second to SQLite; when the
 * database fails they shrink, so that one that is too slow for many still takes few.
 */
const mostRecords = 6_000;
const fewestRecords = 100;
/** Maximum characters handled at once. */
const maxLength = 8 * 2 ** 20;
const longestPause = 5_000;

/** Moves batches from the journal to the database, in order, until it has been asked to drain and nothing is left. */
export function createApplier(options: ApplierOptions) {
  const { file, marks, database, node, report, leftOver, lookEvery } = options;
  let { applied } = options;
  /** By a monotonic clock: a wall clock that was set back would stop everything for that long. */
  let lastTime = -Infinity;
  let draining = false;
  let isReplaying = false;
  const fragile = createTrouble((message) => report({ kind: 'not-durable', message }));
  const writer = createBatchWriter({
    database,
    node,
    putAside,
    onLate: (count, amount) => report({ kind: 'late', count, amount }),
    onFragile: fragile.met,
  });
  let pause = shortestPause;
  let size = enough;
  let lookBackAt = -Infinity;
  let wake = () => {};

  async function run(): Promise<void> {
    for (;;) {
      if (isReplaying) await replay();
      // Where the journal ends is read first: what follows then finds everything up to there.
      const end = marks.read()?.end ?? applied;
      const count = end.last - applied.last;
      if (applied.id >= leftOver) await lookBack();
      if (count <= 0) {
        if (end.id > applied.id) advance(end);
        else if (draining) return;
        else await wait(lookEvery);
      } else if (isDue(count)) {
        await applyNext(end);
      } else {
        await wait(lookEvery);
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

  async function applyNext(end: Place): Promise<void> {
    lastTime = performance.now();
    let place: Place;
    try {
      const reading = readOn(file, applied, end, { mostRecords: size, mostLength: maxLength });
      await write(reading);
      ({ place } = reading);
    } catch (error) {
      report({ kind: 'away', message: (error as Error).message });
      size = Math.max(size / 4, fewestRecords);
      await wait(pause);
      pause = Math.min(pause * 2, longestPause);
      return;
    }
    pause = shortestPause;
    size = Math.min(size * 2, mostRecords);
    advance(place);
  }

  function advance(place: Place): void {
    const count = place.last - applied.last;
    const bytes = place.bytes - applied.bytes;
    applied = place;
    report({ kind: 'applied', place, count, bytes });
  }

  /** Writes what is applied once more, to a database that lost it. */
  async function replay(): Promise<void> {
    try {
      const replayCounts = await replayFile(file, applied, database);
      isReplaying = false;
      report({ kind: 'replayed', ...replayCounts });
    } catch (error) {
      report({ kind: 'away', message: (error as Error).message });
      if (draining) isReplaying = false;
      else await wait(pause);
    }
  }

  async function lookBack(): Promise<void> {
    if (performance.now() < lookBackAt) return;
    try {
      await options.whenCaughtUp?.();
      lookBackAt = Infinity;
    } catch {
      // The database is unreachable, which is reported when there is something to apply.
      lookBackAt = performance.now() + longestPause;
    }
  }

  /** @throws the database's error if it is unreachable. */
  async function write({ batches, losses, damaged }: Reading): Promise<void> {
    const [first] = batches;
    await writer.write(batches, losses, {
      isLeftOver: first !== undefined && first.id <= leftOver,
    });
    for (const { lines } of damaged) {
      // Nobody knows what they were.
      for (const line of linesIn(lines)) putAside(line, 'the checksum does not match', []);
    }
    for (const loss of losses) report({ kind: 'lost', loss });
  }

  function putAside(line: string, reason: string, leasedParts: readonly LeasedPart[]): void {
    const isNew = file.reject(line, reason);
    report({ kind: 'rejected', message: reason, leasedParts: isNew ? leasedParts : [] });
  }

  return {
    run,
    /** Everything up to here is applied. */
    get applied() {
      return applied;
    },
    replay() {
      isReplaying = true;
      wake();
    },
    drain() {
      draining = true;
      pause = shortestPause;
      wake();
    },
  };
}
