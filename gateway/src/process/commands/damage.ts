import { type Logger, type UncaughtErrors, watchUncaughtErrors } from '#observability/index.ts';
import { exitCode } from './command.ts';

/** After the drain time-out, a damaged process gets this long to shut down in order. */
const lastMs = 10_000;

export interface Damage {
  readonly uncaught: UncaughtErrors;
  /** Resolves at the first uncaught exception: the process should shut down in order and be replaced. */
  readonly happened: Promise<'uncaught exception'>;
}

/** From here on an uncaught error does not end this process at once. @param drainTimeout milliseconds */
export function watchDamage(log: Pick<Logger, 'error'>, drainTimeout: number): Damage {
  const { promise: happened, resolve } = Promise.withResolvers<'uncaught exception'>();
  const giveUp = (): never => process.exit(exitCode.failed);
  const uncaught = watchUncaughtErrors({
    log,
    onDamage() {
      setTimeout(giveUp, drainTimeout + lastMs).unref();
      resolve('uncaught exception');
    },
    onHopeless: giveUp,
  });
  return { uncaught, happened };
}
