import { write } from '../../api/client.ts';

/** Milliseconds before its end at which a key is asked for again. */
const margin = 60_000;

/**
 * Keys of this session by group, in memory only: they are in no storage and in no cache of the pages.
 * @param token of the session, against requests of other sites
 */
export function createSessionKeys(): (group: string, token: string) => Promise<string> {
  const keys = new Map<string, { readonly key: string; readonly expires: number }>();
  return async (group, token) => {
    const kept = keys.get(group);
    if (kept !== undefined && kept.expires - margin > Date.now()) return kept.key;
    const { key, expires_at } = await write<'playgroundKey'>(
      'POST',
      '/playground/key',
      { group },
      token,
    );
    keys.set(group, { key, expires: Date.parse(expires_at) });
    return key;
  };
}
