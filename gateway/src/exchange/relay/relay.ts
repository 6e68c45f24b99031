import type { EmbedInput } from './embeddings/input.ts';
import { createEmbedOperation } from './embeddings/embed-operation.ts';
import { admitExchange } from './exchange/admit.ts';
import { openExchange } from './exchange/exchange.ts';
import type { ExchangeInput } from './exchange/input.ts';
import type { Operation } from './exchange/operation.ts';
import type { ExchangeParts } from './exchange/parts.ts';
import type { ImageInput } from './images/input.ts';
import { createImageOperation } from './images/image-operation.ts';
import type { TextInput } from './text/input.ts';
import type { TextParts } from './text/parts.ts';
import { createTextOperations } from './text/text-operations.ts';

/** Everything that the relay needs; made once by the composition root. */
export type RelayParts = TextParts;

/** A request of any operation. */
export type RelayInput = TextInput | EmbedInput | ImageInput;

export interface Relay {
  /**
   * Runs the exchange to its end. When the promise resolves, the response is written and the usage row durable.
   * @throws GatewayError when nothing has been written yet: the caller writes the error. The row is durable by then.
   */
  run(input: RelayInput): Promise<void>;
}

/** Each operation has a line here, and a folder beside `text/`. */
export function createRelay(parts: RelayParts): Relay {
  const ofText: Readonly<Record<TextInput['operation'], Operation>> = createTextOperations(parts);
  const embed: Operation = createEmbedOperation(parts);
  const images: Operation = createImageOperation(parts);
  const operationFor = (input: RelayInput): Operation => {
    switch (input.protocol) {
      case 'embeddings':
        return embed;
      case 'images':
        return images;
      default:
        return ofText[input.operation];
    }
  };
  return { run: (input) => runExchange(parts, operationFor(input), input) };
}

/**
 * One exchange from end to end: prepare once, attempt several times, make the row durable, and only then end the
 * response.
 */
async function runExchange(
  parts: ExchangeParts,
  operation: Operation,
  input: ExchangeInput,
): Promise<void> {
  const exchange = openExchange(parts, input);
  const prepared = await admitExchange(parts, operation, exchange);
  if (prepared === null) return;
  const kind = exchange.stream && operation.mayStream ? 'stream' : 'buffered';
  parts.observer.opened(kind);
  try {
    await operation.answer(exchange, prepared);
  } finally {
    parts.observer.closed(kind);
  }
}
