/**
 * Stored responses, so that `previous_response_id` works as it does at the vendor. Bounded: drops
 * the oldest.
 */
export interface ResponseMemory {
  remember(id: string, items: readonly unknown[]): void;
  recall(id: string): readonly unknown[] | undefined;
}

export function createResponseMemory(limit = 1000): ResponseMemory {
  const stored = new Map<string, readonly unknown[]>();
  return {
    remember(id, items) {
      stored.delete(id);
      stored.set(id, items);
      const oldest = stored.size > limit ? stored.keys().next().value : undefined;
      if (oldest !== undefined) stored.delete(oldest);
    },
    recall: (id) => stored.get(id),
  };
}
