import { createHash } from 'node:crypto';
import type { Config } from '#config/index.ts';
import type { Secrets } from '#database/index.ts';
import { openSharedValues } from '#limits/index.ts';
import { createItemMemory, createSharedItems, type ItemMemory } from '#relay/index.ts';
import { clock } from './clock.ts';
import type { Closing } from './closing.ts';

/** Opens what remembers the items of converted responses: this process, with a copy in Redis if there is one. */
export async function openItemMemory(
  { limits, redis }: Pick<Config, 'limits' | 'redis'>,
  { seal, open }: Pick<Secrets, 'seal' | 'open'>,
  closing: Closing,
): Promise<ItemMemory> {
  const maxBytes = limits.conversationMemory;
  const own = createItemMemory({ now: clock.monotonic, maxBytes });
  if (redis.url === null || maxBytes === 0) return own;
  const shared = closing.add(await openSharedValues(redis.url, clock.monotonic));
  const digest = (place: string): string => createHash('sha256').update(place).digest('base64url');
  return createSharedItems({ own, shared, seal, open, digest });
}
