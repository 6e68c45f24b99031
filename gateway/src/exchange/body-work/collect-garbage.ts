import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | null = null;

/** Collects all garbage of this thread and gives its memory back. Takes longer the more is still in use. */
export function collectGarbage(): void {
  if (collect === null) {
    // The function exists only in contexts that are made under this flag, which nothing else ever looks at.
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
    setFlagsFromString('--no-expose-gc');
  }
  collect();
}
