import type { ExchangeObserver } from './exchange.ts';
import type { Logger } from './logger.ts';

/**
 * Says it when an upstream's counts cannot be true: the charge was bounded by what had been held, and somebody should
 * look at that upstream.
 */
export function createUsageAlarm(logger: Pick<Logger, 'warn'>): ExchangeObserver['finished'] {
  return ({ record: { id, channel, usageSource } }) => {
    if (usageSource !== 'quarantined') return;
    const about = channel === null ? {} : { channel };
    logger.warn('the upstream reported usage that cannot be true', {
      component: 'billing',
      requestId: id,
      ...about,
    });
  };
}
