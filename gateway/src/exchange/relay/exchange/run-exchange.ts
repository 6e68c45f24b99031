import { admitExchange } from './admit.ts';
import { openExchange } from './exchange.ts';
import type { ExchangeInput } from './input.ts';
import type { Operation } from './operation.ts';
import type { ExchangeParts } from './parts.ts';

/**
 * One exchange from end to end: prepare once, attempt several times, make the row durable, and only then end the
 * response.
 */
export async function runExchange(
  parts: ExchangeParts,
  asked: Operation,
  input: ExchangeInput,
): Promise<void> {
  const exchange = openExchange(parts, input);
  const admitted = await admitExchange(parts, asked, exchange);
  if (admitted === null) return;
  const { operation, prepared } = admitted;
  const kind = exchange.stream && operation.mayStream ? 'stream' : 'buffered';
  parts.observer.opened(kind, exchange);
  try {
    await operation.answer(exchange, prepared);
  } finally {
    parts.observer.closed(kind);
  }
}
