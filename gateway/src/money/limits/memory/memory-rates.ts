import type { Rates } from '../rates.ts';
import { createShare, type ShareOptions } from './share.ts';

/** How long it is said that limits are divided, after it mattered. Milliseconds. */
const dividedMs = 3_600_000;

/**
 * Counts in the memory of this process. Every result is immediate. If there are other nodes, each enforces its share of
 * every limit.
 */
export function createMemoryRates(options: ShareOptions): Rates {
  const { monotonic, liveNodes } = options;
  const share = createShare(options);
  let dividedAt = Number.NEGATIVE_INFINITY;
  return {
    checkRates(request) {
      if (liveNodes() > 1 && request.limits.length > 0) dividedAt = monotonic();
      return share.checkRates(request);
    },
    leave(id) {
      share.admissions.leave(id);
    },
    get degraded() {
      const nodes = liveNodes();
      if (nodes <= 1 || monotonic() - dividedAt >= dividedMs) return [];
      return [`${nodes} nodes without redis: each enforces its share of every rate`];
    },
    server: null,
    close: async () => {},
  };
}
