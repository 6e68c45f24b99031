import type { RateDecision, RateRequest } from '../rates.ts';
import { type Admissions, createAdmissions } from './admissions.ts';

/**
 * What this node may admit alone: its share of every rate. Together the nodes stay within the limits as long as
 * `liveNodes` is right.
 */
export interface Share {
  /** The admissions of this node, including those that Redis decided: they count against the share from the start. */
  readonly admissions: Admissions;
  checkRates(request: RateRequest): RateDecision;
}

export interface ShareOptions {
  readonly monotonic: () => number;
  /** Live nodes, including this one. */
  readonly liveNodes: () => number;
}

export function createShare({ monotonic, liveNodes }: ShareOptions): Share {
  const admissions = createAdmissions(monotonic);
  return {
    admissions,
    checkRates(request) {
      const nodes = Math.max(1, Math.floor(liveNodes()));
      if (nodes === 1) return admissions.checkRates(request);
      const { id, limits } = request;
      return admissions.checkRates({
        id,
        limits: limits.map((limit) => ({ ...limit, limit: shareOf(limit.limit, nodes) })),
      });
    },
  };
}

/** At least one, so that a small limit does not lock everybody out; 0 stays 0. */
function shareOf(limit: number, nodes: number): number {
  return limit === 0 ? 0 : Math.max(1, Math.floor(limit / nodes));
}
