import { setTimeout as wait } from 'node:timers/promises';
import { formatUsd, type OpenDatabase } from '#database/index.ts';
import type { Journal } from '#journal/index.ts';
import { closeLives, freeSilentLives } from '#leases/index.ts';
import { createRepeatedWork, type Logger } from '#observability/index.ts';
import { closeOnceSilent } from './close-once-silent.ts';
import { addLife, forgetLives, livesOf } from './own-lives.ts';

/** Milliseconds. */
const lookEvery = 5_000;
const retryAfter = 2_000;

/** The lives of this node, from the first to lease money to the last to give it back. */
export interface Lives {
  /** Names a new life of this process. */
  begin(): string;
  /** A life of this process was closed for its silence, and its requests have ended by now. */
  end(life: string): void;
  /** Closes the same lives once more, in a database that went back in time. Never rejects. */
  closeAgain(): Promise<void>;
  /** Gives back what earlier processes leased, once their records are in the database. */
  follow(journal: FollowedJournal): void;
  /** Gives back what this process leased; call it after the journal was closed. Never throws. */
  close(): Promise<void>;
}

type FollowedJournal = Pick<Journal, 'caughtUp' | 'depth' | 'appliedUntil'>;

export interface LivesOptions {
  readonly database: OpenDatabase;
  readonly dataDir: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Called when lives were freed, or their records found. */
  readonly onFreed: () => void;
}

/** Also frees lives of other nodes that have been silent for too long. */
export function createLives({ database, dataDir, log, onFreed }: LivesOptions): Lives {
  const work = createRepeatedWork((detail) =>
    log.warn('could not return leases of stopped processes', { component: 'money', detail }),
  );
  const { ended: earlier, doubtful } = livesOf(dataDir);
  /** Of this process, and since when, by the clock of the journal. */
  let ended: { readonly life: string; readonly at: number }[] = [];
  const closed: string[] = [];
  let journal: FollowedJournal | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function forget(lives: readonly string[]): void {
    closed.push(...lives);
    forgetLives(dataDir, lives);
  }

  async function returnLeases(lives: readonly string[]): Promise<void> {
    await closeLives(database, lives);
    forget(lives);
  }

  function returnDoubtfulLeases(lives: readonly string[]): void {
    let openLives = lives;
    closeOnceSilent({
      database,
      lives,
      onClosed(silent) {
        openLives = openLives.filter((life) => !silent.includes(life));
        forget(silent);
      },
      onInUse: () =>
        log.warn('another process uses leases of this data folder, which may be a clone', {
          component: 'money',
          detail: dataDir,
        }),
      rest: () => wait(lookEvery, !isClosed, { ref: false }),
    }).catch((error: unknown) => {
      work.reportFailure(error);
      setTimeout(() => returnDoubtfulLeases(openLives), retryAfter).unref();
    });
  }

  function returnEarlierLeases(): void {
    if (isClosed || earlier.length === 0) return;
    returnLeases(earlier).catch((error: unknown) => {
      work.reportFailure(error);
      setTimeout(returnEarlierLeases, retryAfter).unref();
    });
  }

  /** Its last record is in the database too, so nothing of it can be missing. */
  async function returnEndedLeases(): Promise<void> {
    const appliedUntil = journal?.appliedUntil ?? -Infinity;
    const dueLives = ended.filter(({ at }) => at + lookEvery < appliedUntil);
    if (dueLives.length === 0) return;
    await returnLeases(dueLives.map(({ life }) => life));
    ended = ended.filter((one) => !dueLives.includes(one));
    onFreed();
  }

  async function freeSilent(): Promise<void> {
    const freedLives = await freeSilentLives(database);
    for (const { life, node, amount } of freedLives) {
      log.warn(
        'the leases of a silent process were freed: what it has charged without a record in the database may be spent again',
        { component: 'money', detail: `${node} ${life}: ${formatUsd(amount)} USD at most` },
      );
    }
    if (freedLives.length > 0) onFreed();
  }

  return {
    begin: () => addLife(dataDir),
    end(life) {
      ended.push({ life, at: performance.now() });
    },
    closeAgain: () => closeLives(database, closed).catch(work.reportFailure),
    follow(own) {
      journal = own;
      void own.caughtUp.then(() => {
        returnEarlierLeases();
        returnDoubtfulLeases(doubtful);
      });
      timer = setInterval(() => {
        freeSilent().then(returnEndedLeases).then(work.reportSuccess).catch(work.reportFailure);
      }, lookEvery).unref();
    },
    async close() {
      isClosed = true;
      if (timer !== null) clearInterval(timer);
      if (journal?.depth !== 0) return;
      await returnLeases(livesOf(dataDir).ended).catch(work.reportFailure);
    },
  };
}
