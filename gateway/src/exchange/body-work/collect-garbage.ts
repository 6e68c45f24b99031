import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | null = null;

/** Collects all garbage of this thread and releases its memory. The time grows with the memory still in use. */
export function collectGarbage(): void {
  if (collect === null) {
    // The function exists only in contexts created under this flag, which nothing else reads.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
    setFlagsFromString('--no-expose-gc');
  }
  collect();
}
