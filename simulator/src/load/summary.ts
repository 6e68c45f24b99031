import { createHistogram, type Distribution } from './histogram.ts';
import type { LoadFailure, LoadResult } from './request.ts';

/** Times in milliseconds. */
export interface LoadSummary {
  readonly requests: number;
  readonly completed: number;
  readonly failures: Readonly<Partial<Record<LoadFailure, number>>>;
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly requestsPerSecond: number;
  readonly bytesPerSecond: number;
  readonly timeToFirstByte: Distribution;
  readonly timeToFirstEvent: Distribution;
  readonly gap: Distribution;
  readonly duration: Distribution;
}

export interface SummaryBuilder {
  add(result: LoadResult): void;
  finish(elapsedMs: number): LoadSummary;
}

/** Counts failures, but times only completed requests. */
export function createSummary(): SummaryBuilder {
  const timeToFirstByte = createHistogram();
  const timeToFirstEvent = createHistogram();
  const gap = createHistogram();
  const duration = createHistogram();
  const failures: Partial<Record<LoadFailure, number>> = {};
  const statuses: Record<string, number> = {};
  let requests = 0;
  let completed = 0;
  let bytes = 0;
  return {
    add(result) {
      requests += 1;
      bytes += result.bytes;
      const status = String(result.status ?? 'none');
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (result.failure !== null) {
        failures[result.failure] = (failures[result.failure] ?? 0) + 1;
        return;
      }
      completed += 1;
      if (result.timeToFirstByte !== null) timeToFirstByte.add(result.timeToFirstByte);
      if (result.timeToFirstEvent !== null) timeToFirstEvent.add(result.timeToFirstEvent);
      for (const pause of result.gaps) gap.add(pause);
      duration.add(result.total);
    },
    finish: (elapsedMs) => ({
      requests,
      completed,
      failures,
      statuses,
      seconds: elapsedMs / 1000,
      requestsPerSecond: (requests * 1000) / elapsedMs,
      bytesPerSecond: (bytes * 1000) / elapsedMs,
      timeToFirstByte: timeToFirstByte.summary(),
      timeToFirstEvent: timeToFirstEvent.summary(),
      gap: gap.summary(),
      duration: duration.summary(),
    }),
  };
}
