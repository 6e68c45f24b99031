/** Work in the background that is tried again whatever happens. */
export interface RepeatedWork {
  /** Reports the first failure in a row. */
  readonly reportFailure: (error: unknown) => void;
  /** The next failure is reported again. */
  readonly reportSuccess: () => void;
}

/** @param report says in the log what is not done while it fails */
export function createRepeatedWork(report: (detail: string) => void): RepeatedWork {
  let isFailing = false;
  return {
    reportFailure(error) {
      if (isFailing) return;
      isFailing = true;
      report(error instanceof Error ? error.message : String(error));
    },
    reportSuccess() {
      isFailing = false;
    },
  };
}
