import type { Logger } from './logger.ts';

/** What nobody caught, in this process. */
export interface UncaughtErrors {
  /** Thrown where no caller was: whatever was under way may be half done. */
  readonly exceptions: number;
  /** Promises that failed and that nobody waited for. */
  readonly rejections: number;
}

export interface UncaughtErrorsOptions {
  readonly log: Pick<Logger, 'error'>;
  /** Told once, of the first exception: the process should be replaced. */
  readonly onDamage: () => void;
  /** Told when it cannot be waited for any longer. */
  readonly onHopeless: () => void;
  /** Where the errors come from; default: this process. */
  readonly source?: Pick<NodeJS.Process, 'on'>;
}

/** A process that goes on throwing will not end in order. */
const hopeless = 10;

/**
 * Listens to the errors that would end the process at once, and with it every answer under way. See
 * docs/decisions/0011-uncaught-errors.md for what follows from which.
 */
export function watchUncaughtErrors(options: UncaughtErrorsOptions): UncaughtErrors {
  const { log, onDamage, onHopeless, source = process } = options;
  const counts = { exceptions: 0, rejections: 0 };
  source.on('uncaughtException', (error) => {
    counts.exceptions += 1;
    // The log is not to be filled by what repeats itself.
    if (counts.exceptions <= hopeless) log.error('uncaught exception', error);
    if (counts.exceptions === 1) onDamage();
    if (counts.exceptions === hopeless) onHopeless();
  });
  source.on('unhandledRejection', (reason) => {
    counts.rejections += 1;
    log.error('unhandled rejection', reason);
  });
  return counts;
}
