import type { Logger } from './logger.ts';

/** Work in the background that is tried again whatever happens. */
export interface RepeatedWork {
  /** Logs the first failure in a row. */
  readonly failed: (error: unknown) => void;
  /** The next failure is logged again. */
  readonly worked: () => void;
}

/** @param message what is not done while it fails, for the operator */
export function createRepeatedWork(
  log: Pick<Logger, 'warn'>,
  component: string,
  message: string,
): RepeatedWork {
  let isFailing = false;
  return {
    failed(error) {
      if (isFailing) return;
      isFailing = true;
      log.warn(message, {
        component,
        detail: error instanceof Error ? error.message : String(error),
      });
    },
    worked() {
      isFailing = false;
    },
  };
}
