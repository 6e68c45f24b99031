import { createHash } from 'node:crypto';
import type { Config } from '#config/index.ts';
import { createStateStore, type StateStore } from '#conversion/index.ts';
import type { Secrets } from '#database/index.ts';
import { openSharedValues } from '#limits/index.ts';
import {
  createItemMemory,
  createSealedTexts,
  createSharedItems,
  createSharedStates,
  type ItemMemory,
} from '#relay/index.ts';
import { clock } from './clock.ts';
import type { Closing } from './closing.ts';

/** What the gateway remembers of converted responses, for clients that do not send it back. */
export interface ConversationMemory {
  /** The items that clients may name. */
  readonly items: ItemMemory;
  /** The state of reasoning. */
  readonly states: StateStore;
}

/** Opens the memory of this process, with a copy in Redis if there is one. */
export async function openConversationMemory(
  { limits, redis }: Pick<Config, 'limits' | 'redis'>,
  { seal, open }: Pick<Secrets, 'seal' | 'open'>,
  closing: Closing,
): Promise<ConversationMemory> {
  const maxBytes = limits.conversationMemory;
  const items = createItemMemory({ now: clock.monotonic, maxBytes });
  const states = createStateStore({ now: clock.monotonic });
  if (redis.url === null || maxBytes === 0) return { items, states };
  const sharedValues = closing.add(await openSharedValues(redis.url, clock.monotonic));
  const digest = (place: string): string => createHash('sha256').update(place).digest('base64url');
  const copies = { shared: sharedValues, seal, open, digest };
  return {
    items: createSharedItems(items, createSealedTexts({ ...copies, kind: 'item' })),
    states: createSharedStates(states, createSealedTexts({ ...copies, kind: 'state' })),
  };
}
