import type { Logger } from '#observability/index.ts';
import type { PressureCause } from './pressure.ts';

type Log = Pick<Logger, 'info' | 'warn'>;
/** Called with each sample of `watchPressure`: the causes, and monotonic milliseconds. */
type Report<Cause> = (causes: readonly Cause[], now: number) => void;

/** A cause that comes back within this many milliseconds counts as not interrupted. */
const calmMs = 10_000;

const overloads: Readonly<Record<PressureCause, string>> = {
  lag: 'the event loop is lagging; large bodies are refused',
  memory: 'memory is nearly exhausted; new requests are refused',
};

/** Why nothing that costs something is admitted. */
type RefusalReason = PressureCause | 'journal' | 'leases';

const refusals: Readonly<Record<RefusalReason, string>> = {
  journal: 'their usage cannot be written',
  leases: 'the database leases no money, and no lease is left',
  lag: 'the event loop is lagging',
  memory: 'memory is nearly exhausted',
};

/**
 * Reports overload: two lines in the log for each period.
 * @param refused how many requests have been refused since the start, by cause
 */
export function createPressureReport(
  log: Log,
  refused: Readonly<Record<PressureCause, number>>,
): Report<PressureCause> {
  return createReport((cause: PressureCause) => {
    log.warn(`overloaded: ${overloads[cause]}`, { component: 'admission', detail: cause });
    const before = refused[cause];
    return (durationMs) =>
      log.info('no longer overloaded', {
        component: 'admission',
        detail: cause,
        durationMs,
        count: refused[cause] - before,
      });
  });
}

/** Reports that nothing that costs something is admitted: two lines in the log for each period. */
export function createRefusalReport(log: Log): Report<RefusalReason> {
  return createReport((reason: RefusalReason) => {
    log.warn(`refusing all requests that cost something: ${refusals[reason]}`, {
      component: 'admission',
      detail: reason,
    });
    return (durationMs) =>
      log.info('admitting requests that cost something again', {
        component: 'admission',
        detail: reason,
        durationMs,
      });
  });
}

/** @param begin called when a period of a cause begins; what it returns is called when it has been over for a while */
function createReport<Cause>(begin: (cause: Cause) => (durationMs: number) => void): Report<Cause> {
  const running = new Map<
    Cause,
    { readonly since: number; last: number; readonly end: (durationMs: number) => void }
  >();
  return function report(causes, now) {
    for (const cause of causes) {
      const begun = running.get(cause);
      if (begun === undefined) running.set(cause, { since: now, last: now, end: begin(cause) });
      else begun.last = now;
    }
    for (const [cause, { since, last, end }] of running) {
      if (now - last < calmMs) continue;
      running.delete(cause);
      end(Math.round(last - since));
    }
  };
}
