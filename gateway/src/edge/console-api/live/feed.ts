import type { OpenedExchange } from '#observability/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';

export type LiveEvent =
  | { readonly kind: 'started'; readonly exchange: OpenedExchange }
  | { readonly kind: 'finished'; readonly number: number; readonly record: ExchangeRecord };

/** What happens in this process, for whoever watches. Nothing of it waits for anybody. */
export interface LiveFeed {
  started(exchange: OpenedExchange): void;
  finished(record: ExchangeRecord): void;
  /** The last finished ones, the oldest first. */
  readonly last: readonly (LiveEvent & { readonly kind: 'finished' })[];
  /** When this process began, to tell its numbers from those of another. */
  readonly epoch: number;
  watch(watcher: (event: LiveEvent) => void): () => void;
  readonly watchers: number;
}

/** So many can be brought after a lost connection. */
const kept = 500;

/** @param epoch Unix milliseconds of now */
export function createLiveFeed(epoch: number): LiveFeed {
  const watchers = new Set<(event: LiveEvent) => void>();
  const last: (LiveEvent & { readonly kind: 'finished' })[] = [];
  let number = 0;
  const tell = (event: LiveEvent): void => {
    for (const watcher of watchers) watcher(event);
  };
  return {
    epoch,
    last,
    get watchers() {
      return watchers.size;
    },
    started(exchange) {
      if (watchers.size > 0) tell({ kind: 'started', exchange });
    },
    finished(record) {
      number += 1;
      const event = { kind: 'finished', number, record } as const;
      last.push(event);
      // In steps: moving all of them for each request would cost more than the request.
      if (last.length >= 2 * kept) last.splice(0, kept);
      tell(event);
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

export const mostMissed = kept;
