import type { OpenDatabase } from '#database/index.ts';
import type { Journal } from '#journal/index.ts';
import { closeLives, freeSilentLives } from '#leases/index.ts';
import type { Logger } from '#observability/index.ts';
import { addLife, forgetLives, livesOf } from './own-lives.ts';

/** Milliseconds. */
const lookEvery = 10_000;
const retryAfter = 2_000;

/** The lives of this node, from the first to lease money to the last to give it back. */
export interface Lives {
  /** Names a new life of this process. */
  begin(): string;
  /** Gives back what earlier processes leased, once their records are in the database. */
  follow(journal: Pick<Journal, 'caughtUp' | 'depth'>): void;
  /** Gives back what this process leased; call it after the journal was closed. Never throws. */
  close(): Promise<void>;
}

export interface LivesOptions {
  readonly database: OpenDatabase;
  readonly dataDir: string;
  /** A life is freed after this time without a sign. Milliseconds. */
  readonly ageMs: number;
  readonly log: Pick<Logger, 'warn'>;
}

/** Also frees lives of other nodes that have been silent for too long. */
export function createLives({ database, dataDir, ageMs, log }: LivesOptions): Lives {
  const earlier = livesOf(dataDir);
  let journal: Pick<Journal, 'depth'> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  async function giveBack(lives: readonly string[]): Promise<void> {
    await closeLives(database, lives);
    forgetLives(dataDir, lives);
  }

  function giveBackEarlier(): void {
    if (isClosed || earlier.length === 0) return;
    giveBack(earlier).catch(() => setTimeout(giveBackEarlier, retryAfter).unref());
  }

  async function freeSilent(): Promise<void> {
    for (const { life, node, amount } of await freeSilentLives(database, ageMs)) {
      log.warn(
        'the leases of a silent process were freed: what it has charged since its last record is not in the limits until its journal is applied',
        { component: 'money', detail: `${node} ${life}: ${amount} nano-USD` },
      );
    }
  }

  return {
    begin: () => addLife(dataDir),
    follow(own) {
      journal = own;
      void own.caughtUp.then(giveBackEarlier);
      timer = setInterval(() => {
        freeSilent().catch(() => {});
      }, lookEvery).unref();
    },
    async close() {
      isClosed = true;
      if (timer !== null) clearInterval(timer);
      if (journal?.depth !== 0) return;
      await giveBack(livesOf(dataDir)).catch(() => {});
    },
  };
}
