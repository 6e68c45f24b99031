import type { Logger } from '#observability/index.ts';

const retryMs = 2_000;

/** Loads, and retries until it succeeds or is closed. */
export function loadInBackground(
  load: () => Promise<void>,
  what: string,
  logger: Logger,
): { close(): void } {
  let timer: NodeJS.Timeout | null = null;
  let isStopped = false;
  const attempt = (): void => {
    load().catch((error: unknown) => {
      if (isStopped) return;
      logger.error(`could not load ${what}; trying again`, error);
      timer = setTimeout(attempt, retryMs).unref();
    });
  };
  attempt();
  return {
    close() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
