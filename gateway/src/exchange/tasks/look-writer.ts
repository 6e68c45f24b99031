import type { OpenDatabase } from '#database/index.ts';
import { storeLooks, type Looked } from './looks.repository.ts';

/** Milliseconds for which looks are gathered. */
const gatherFor = 50;
const most = 200;

/** Stores looks that have ended nothing, many with one statement. */
export interface LookWriter {
  write(look: Looked): void;
  /** Stores what was gathered. Never rejects. */
  flush(): Promise<void>;
}

/** @param onProblem receives why looks were not stored; their tasks are looked at again when their leases end */
export function createLookWriter(
  database: OpenDatabase,
  onProblem: (error: unknown) => void,
): LookWriter {
  let waitingLooks: Looked[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const looks = waitingLooks;
    waitingLooks = [];
    writing = writing.then(() => storeLooks(database, looks)).catch(onProblem);
    return writing;
  }

  return {
    write(look) {
      waitingLooks.push(look);
      if (waitingLooks.length >= most) void flush();
      else timer ??= setTimeout(() => void flush(), gatherFor).unref();
    },
    flush,
  };
}
