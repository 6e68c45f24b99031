import type { ExchangeObserver } from './exchange.ts';
import type { Logger } from './logger.ts';

/**
 * Warns about implausible upstream usage. The charge was bounded by the hold; somebody should look at that upstream.
 */
export function createUsageAlarm(logger: Pick<Logger, 'warn'>): ExchangeObserver['finished'] {
  return ({ record: { id, channel, usageSource } }) => {
    if (usageSource !== 'quarantined') return;
    const about = channel === null ? {} : { channel };
    logger.warn('the upstream reported implausible usage', {
      component: 'billing',
      requestId: id,
      ...about,
    });
  };
}
