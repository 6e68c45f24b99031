import { useState } from 'react';
import { ApiFailure } from '../api/client.ts';

interface Seen<T> {
  /** As it was opened, or as somebody else has left it meanwhile. */
  readonly object: T;
  /** Whether somebody else has changed it since it was opened. */
  readonly isStale: boolean;
  /**
   * Sends a change of the object that is seen. If somebody else came first, theirs is seen next.
   * @param write what it does with the headers
   * @returns whether it was changed
   * @throws what `write` throws otherwise
   */
  readonly change: (
    write: (headers: { 'if-match': string }) => Promise<unknown>,
  ) => Promise<boolean>;
}

/** An object in a form that changes it, so that nobody overwrites what they have not seen. */
export function useSeen<T extends { readonly revision: number }>(of: T): Seen<T> {
  const [object, setObject] = useState(of);
  const [isStale, setStale] = useState(false);
  return {
    object,
    isStale,
    async change(write) {
      try {
        await write({ 'if-match': `"${object.revision}"` });
        return true;
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.code !== 'stale') throw error;
        setObject(error.object as T);
        setStale(true);
        return false;
      }
    },
  };
}
