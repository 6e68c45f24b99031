import { createClient } from '@redis/client';
import { linkRules } from './link.ts';

/** Values in Redis that every process may read. Nothing depends on them: rates come first. */
export interface SharedValues {
  /** Keeps each value for this many seconds, unless Redis is short of memory or unreachable. Never rejects. */
  keep(values: ReadonlyMap<string, string>, seconds: number): void;
  /** Those that are there, by key; none while Redis is unreachable. Never rejects. */
  find(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
  close(): void;
}

/** How much of its memory Redis must have free, so that rates never fail for want of it. */
const freeShare = 0.25;
/** Milliseconds for which the answer about its memory counts. */
const memoryKnownMs = 5_000;
const mostWaiting = 1_000;

/** Connects in the background, and again after each loss. */
export function connectSharedValues(url: string, now: () => number): SharedValues {
  const client = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: mostWaiting,
    maintNotifications: 'disabled',
    disableClientInfo: true,
    commandOptions: { timeout: linkRules.patienceMs },
    socket: {
      reconnectStrategy: () => linkRules.probeEveryMs,
      connectTimeout: linkRules.connectTimeoutMs,
    },
  });
  // The connection that counts rates reports the loss of Redis.
  const ignore = (): void => {};
  client.on('error', ignore);
  client.connect().catch(ignore);
  let memory: { readonly isFree: Promise<boolean>; readonly until: number } | null = null;

  const hasMemory = (): Promise<boolean> => {
    if (memory === null || memory.until <= now()) {
      const isFree = client.sendCommand<string>(['INFO', 'memory']).then(isEnoughFree, () => false);
      memory = { isFree, until: now() + memoryKnownMs };
    }
    return memory.isFree;
  };

  const keepAll = async (values: ReadonlyMap<string, string>, seconds: number): Promise<void> => {
    if (!client.isReady || !(await hasMemory())) return;
    await Promise.all(
      Array.from(values, ([key, value]) =>
        client.sendCommand(['SET', key, value, 'EX', String(seconds)]),
      ),
    );
  };

  return {
    keep(values, seconds) {
      keepAll(values, seconds).catch(ignore);
    },
    async find(keys) {
      if (keys.length === 0 || !client.isReady) return new Map();
      try {
        const values = await client.sendCommand<(string | null)[]>(['MGET', ...keys]);
        return new Map(
          keys.flatMap((key, at) => {
            const value = values[at];
            return typeof value === 'string' ? [[key, value] as const] : [];
          }),
        );
      } catch {
        // Redis is unreachable or slow: the caller does without the value.
        return new Map();
      }
    },
    close() {
      if (client.isOpen) client.destroy();
    },
  };
}

/** @param info the reply to `INFO memory` */
export function isEnoughFree(info: string): boolean {
  const usedBytes = Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? Number.NaN);
  const most = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? Number.NaN);
  if (Number.isNaN(usedBytes + most)) return false;
  return most === 0 || usedBytes <= most * (1 - freeShare);
}
