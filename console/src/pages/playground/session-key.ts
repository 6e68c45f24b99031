import { write } from '../../api/client.ts';

/** Milliseconds before its end at which a key is asked for again. */
const margin = 60_000;

export interface KeyUse {
  readonly group: string;
  /** Who pays; empty: the person. */
  readonly team: string;
}

/**
 * Keys of this session by what they are for, in memory only: they are in no storage and in no cache of the pages.
 * @param token of the session, against requests of other sites
 */
export function createSessionKeys(): (use: KeyUse, token: string) => Promise<string> {
  const keys = new Map<string, { readonly key: string; readonly expires: number }>();
  return async ({ group, team }, token) => {
    const name = JSON.stringify([group, team]);
    const kept = keys.get(name);
    if (kept !== undefined && kept.expires - margin > Date.now()) return kept.key;
    const { key, expires_at } = await write<'playgroundKey'>(
      'POST',
      '/playground/key',
      { group, ...(team !== '' && { team }) },
      token,
    );
    keys.set(name, { key, expires: Date.parse(expires_at) });
    return key;
  };
}
