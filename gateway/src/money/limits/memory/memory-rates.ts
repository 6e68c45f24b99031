import type { Rates } from '../rates.ts';
import { createAdmissions } from './admissions.ts';

/**
 * Counts for one process. Every result is immediate.
 * @param monotonic milliseconds: a step of the wall clock grants or takes nothing
 */
export function createMemoryRates(monotonic: () => number): Rates {
  const admissions = createAdmissions(monotonic);
  return {
    checkRates: (request) => admissions.checkRates(request),
    leave(id) {
      admissions.leave(id);
    },
    degraded: false,
    close: async () => {},
  };
}
