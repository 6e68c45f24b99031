import { useCallback, useState } from 'react';
import { useSession } from '../app/session.ts';

/**
 * What somebody has typed and not saved, kept in this tab without secrets: other pages, a reload and the end of a session
 * leave it as it is. It is of one person and one version of the pages, and is gone after a sign-out.
 * @param name of what is edited
 * @returns what was found, null if nothing was; and what keeps a draft, null for none
 */
export function useKeptDraft<T>(name: string): readonly [T | null, (draft: T | null) => void] {
  const { user, gateway } = useSession();
  const key = `draft ${gateway.version} ${user.email} ${name}`;
  const [found] = useState(() => JSON.parse(sessionStorage.getItem(key) ?? 'null') as T | null);
  const keep = useCallback(
    (draft: T | null) => {
      if (draft === null) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, JSON.stringify(draft));
    },
    [key],
  );
  return [found, keep];
}
