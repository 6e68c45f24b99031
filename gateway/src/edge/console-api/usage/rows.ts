import type { UsageEntry } from '#usage/index.ts';

/** Lists that may be changed, as schemas infer them. */
export function rowOf<Entry extends UsageEntry>(entry: Entry) {
  const { attempts, rewrites, losses, usage_unread: unread } = entry;
  return {
    ...entry,
    attempts: [...attempts],
    rewrites: [...rewrites],
    losses: [...losses],
    usage_unread: [...unread],
  };
}
