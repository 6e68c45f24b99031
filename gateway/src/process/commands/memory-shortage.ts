import { memoryShortage } from '#bodies/index.ts';
import type { Config } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';

/** Logs the shortage at a start. */
export function logMemoryShortage({ server }: Config, log: Pick<Logger, 'warn'>): void {
  const detail = memoryShortage(server.workers);
  if (detail !== null) log.warn('memory is low', { component: 'memory', detail });
}
