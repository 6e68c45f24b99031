import type { OpenedExchange } from '#observability/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';

export type LiveEvent =
  | {
      readonly kind: 'started';
      readonly exchange: OpenedExchange;
      /** The process; null: this one. */
      readonly node: string | null;
    }
  | { readonly kind: 'finished'; readonly number: number; readonly record: ExchangeRecord }
  /** So many more have started or finished. */
  | { readonly kind: 'left'; readonly count: number }
  /** Nothing will be heard of the requests that this process has started. */
  | { readonly kind: 'gone'; readonly node: string };

/** What requests do, for pages that watch. Requests never wait for a watcher. */
export interface LiveFeed {
  started(exchange: OpenedExchange, node?: string): void;
  finished(record: ExchangeRecord): void;
  /** Requests of other processes that came too fast to be reported. */
  left(count: number): void;
  /** Another process has ended, or is not heard. */
  gone(node: string): void;
  /** The last finished ones since a page began to watch, oldest first. */
  readonly last: readonly (LiveEvent & { readonly kind: 'finished' })[];
  /** How many have finished since this process began. */
  readonly finishedCount: number;
  /** When this process began, to tell its numbers from those of another. */
  readonly epoch: number;
  /** @returns what ends it */
  watch(watcher: (event: LiveEvent) => void): () => void;
  readonly watchers: number;
  /** Whether what finishes is kept: somebody watches, or did until a minute ago. */
  readonly isKept: boolean;
  /** Whether it has what all processes do. */
  readonly isWhole: boolean;
}

/** So many can be brought after a lost connection. */
const mostEvents = 500;
/**
 * Milliseconds for which records are kept after the last watcher has left, because it may only have lost its
 * connection. While no page watches, nothing is kept: records that outlive their request cost the garbage collector a
 * fifth of the request's processor time.
 */
const patience = 60_000;

export interface LiveFeedOptions {
  /** Unix milliseconds of now. */
  readonly epoch: number;
  /** A monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

export function createLiveFeed({ epoch, monotonic }: LiveFeedOptions): LiveFeed {
  const watchers = new Set<(event: LiveEvent) => void>();
  let last: (LiveEvent & { readonly kind: 'finished' })[] = [];
  let number = 0;
  let leftAt = -Infinity;
  const tell = (event: LiveEvent): void => {
    for (const watcher of watchers) watcher(event);
  };
  const isKept = () => watchers.size > 0 || monotonic() - leftAt <= patience;
  return {
    epoch,
    isWhole: true,
    get last() {
      return last;
    },
    get finishedCount() {
      return number;
    },
    get watchers() {
      return watchers.size;
    },
    get isKept() {
      return isKept();
    },
    left(count) {
      tell({ kind: 'left', count });
    },
    gone(node) {
      tell({ kind: 'gone', node });
    },
    started(exchange, node) {
      if (watchers.size > 0) tell({ kind: 'started', exchange, node: node ?? null });
    },
    finished(record) {
      number += 1;
      if (!isKept()) {
        if (last.length > 0) last = [];
        return;
      }
      const event = { kind: 'finished', number, record } as const;
      last.push(event);
      // In steps: moving all of them for each request would cost more than the request.
      if (last.length >= 2 * mostEvents) last.splice(0, mostEvents);
      tell(event);
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => {
        watchers.delete(watcher);
        leftAt = monotonic();
      };
    },
  };
}

export const mostMissed = mostEvents;
