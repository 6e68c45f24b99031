import type { Logger } from '#observability/index.ts';
import type { PressureCause } from './pressure.ts';

/** Pressure that comes back within this many milliseconds counts as not interrupted. */
const calmMs = 10_000;

const words: Readonly<Record<PressureCause, string>> = {
  lag: 'the event loop is lagging; large bodies are refused',
  memory: 'memory is nearly exhausted; new requests are refused',
};

/** Called with each sample of `watchPressure`. */
export type PressureReport = (causes: readonly PressureCause[], now: number) => void;

/**
 * Writes two lines to the log for each period of pressure: when it begins, and when it has been over for a while.
 * @param refused how many requests have been refused since the start, by cause
 */
export function createPressureReport(
  log: Pick<Logger, 'info' | 'warn'>,
  refused: Readonly<Record<PressureCause, number>>,
): PressureReport {
  const running = new Map<PressureCause, { since: number; last: number; refused: number }>();
  return function report(causes, now) {
    for (const cause of causes) {
      const begun = running.get(cause);
      if (begun !== undefined) begun.last = now;
      else {
        running.set(cause, { since: now, last: now, refused: refused[cause] });
        log.warn(`overloaded: ${words[cause]}`, { component: 'admission', detail: cause });
      }
    }
    for (const [cause, begun] of running) {
      if (now - begun.last < calmMs) continue;
      running.delete(cause);
      log.info('no longer overloaded', {
        component: 'admission',
        detail: cause,
        durationMs: Math.round(begun.last - begun.since),
        count: refused[cause] - begun.refused,
      });
    }
  };
}
