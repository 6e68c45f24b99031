import type { ExchangeObserver, FinishedExchange } from './exchange.ts';

/** Receives finished exchanges. */
export type ExchangeListener = (exchange: FinishedExchange) => void;

/**
 * Passes each finished exchange to every listener. An error of one listener goes to `onProblem` and affects no other.
 */
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
