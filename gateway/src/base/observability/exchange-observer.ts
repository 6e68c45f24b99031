import type { ExchangeObserver, FinishedExchange } from './exchange.ts';

/** Anything that wants to know of finished exchanges. */
export type ExchangeListener = (exchange: FinishedExchange) => void;

/** Hands each finished exchange to all of them; what one throws is told to `onProblem` and hurts nobody. */
export function createExchangeObserver(
  counts: Pick<ExchangeObserver, 'opened' | 'closed'>,
  listeners: readonly ExchangeListener[],
  onProblem: (error: unknown) => void,
): ExchangeObserver {
  return {
    opened: counts.opened,
    closed: counts.closed,
    finished(exchange) {
      for (const listener of listeners) {
        try {
          listener(exchange);
        } catch (error) {
          onProblem(error);
        }
      }
    },
  };
}
