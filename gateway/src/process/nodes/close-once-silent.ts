import type { OpenDatabase } from '#database/index.ts';
import { closeSilentLives } from '#leases/index.ts';

/** A running process signs every two seconds. In milliseconds. */
const silentMs = 30_000;

export interface SilenceOptions {
  readonly database: Pick<OpenDatabase, 'kysely'>;
  readonly lives: readonly string[];
  /** Called with those that were closed. */
  readonly onClosed: (lives: readonly string[]) => void;
  /** Called once if lives are still in use. */
  readonly onInUse: () => void;
  /** Resolves to false when the wait is over. */
  readonly rest: () => Promise<boolean>;
}

/** Closes each of these lives as soon as its process has been silent for half a minute: it may be running elsewhere. */
export async function closeOnceSilent(options: SilenceOptions): Promise<void> {
  const { database, lives, onClosed, onInUse, rest } = options;
  const startedAt = performance.now();
  let openLives = lives;
  let isReported = false;
  while (openLives.length > 0) {
    const inUse = await closeSilentLives(database, openLives, silentMs);
    onClosed(openLives.filter((life) => !inUse.includes(life)));
    openLives = inUse;
    // A process that had ended before is silent by now.
    if (openLives.length > 0 && !isReported && performance.now() - startedAt > silentMs) {
      isReported = true;
      onInUse();
    }
    if (openLives.length > 0 && !(await rest())) return;
  }
}
