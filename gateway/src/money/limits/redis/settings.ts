import type { RatesServer } from '../rates.ts';

const unknown: RatesServer = Object.freeze({ eviction: 'unknown', persistence: 'unknown' });

/**
 * Reads the settings of a server. What may not be asked (managed services forbid `CONFIG`) is unknown.
 * @param send any command; an older server takes one setting at a time
 */
export async function readSettings(
  send: (command: readonly string[]) => Promise<unknown>,
): Promise<RatesServer> {
  const read = async (name: string): Promise<string> => {
    const reply = await send(['CONFIG', 'GET', name]);
    const value: unknown = Array.isArray(reply) ? reply[1] : undefined;
    if (typeof value !== 'string') throw new Error(`no setting ${name}`);
    return value;
  };
  try {
    const names = ['maxmemory', 'maxmemory-policy', 'appendonly', 'save'];
    const [memory, policy, appendOnly, save] = await Promise.all(names.map(read));
    return {
      // Without a limit of memory nothing is evicted, whatever the policy.
      eviction: memory === '0' ? 'noeviction' : policy!,
      persistence: appendOnly === 'yes' ? 'append-only' : save === '' ? 'none' : 'snapshots',
    };
  } catch {
    return unknown;
  }
}
