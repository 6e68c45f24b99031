import type { OperationName, ProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { embedOperation } from './embeddings/embed-operation.ts';
import type { EmbedInput } from './embeddings/open-embed.ts';
import { admitExchange } from './admission/admit.ts';
import { type ExchangeInput, openExchange } from './exchange.ts';
import type { CheckedRequest, Operation } from './operation.ts';
import { chatSurface, contentsSurface } from './images/converted/surfaces.ts';
import { createConvertedImageOperation } from './images/converted/image-operation.ts';
import { imageOperation } from './images/image-operation.ts';
import type { ImageInput, ConvertedImageParts } from './images/prepared.ts';
import { respondAsChat } from './text/respond-as-chat.ts';
import type { TextInput, TextParts } from './text/input.ts';
import { createTextOperations } from './text/text-operations.ts';
import type { VideoInput, VideoParts } from './videos/open-video.ts';
import { videoOperation } from './videos/video-operation.ts';

/** Everything that the relay needs; made once by the composition root. */
export type RelayParts = TextParts & ConvertedImageParts & VideoParts;

/** A request of any operation. */
export type RelayInput = TextInput | EmbedInput | ImageInput | VideoInput;

export interface Relay {
  /**
   * Runs the exchange to its end. When the promise resolves, the response is written and the usage row durable.
   * @throws GatewayError when nothing has been written yet: the caller writes the error. The row is durable by then.
   */
  run(input: RelayInput): Promise<void>;
}

type AnyOperation = Operation<ExchangeInput, CheckedRequest, unknown, RelayParts>;

/** Those that have a protocol of their own; the others are text. Each has a line here, and a folder beside `text/`. */
const operations: Partial<Record<ProtocolName, AnyOperation>> = {
  embeddings: embedOperation,
  images: imageOperation,
  'video-synthesis': videoOperation,
  'video-contents': videoOperation,
};

const imagesInText: Partial<Record<ProtocolName, AnyOperation>> = {
  [chatSurface.protocol]: createConvertedImageOperation(chatSurface),
  [contentsSurface.protocol]: createConvertedImageOperation(contentsSurface),
};

export function createRelay(parts: RelayParts): Relay {
  const text = createTextOperations(parts);
  const generate: AnyOperation = {
    ...text.generate,
    instead: ({ protocol }, type) => (type === 'image' ? (imagesInText[protocol] ?? null) : null),
  };
  const textOperations: Partial<Record<OperationName, AnyOperation>> = { ...text, generate };
  return {
    async run(clientInput) {
      const { protocol, operation: name } = clientInput;
      const requestedOperation = operations[protocol] ?? textOperations[name];
      if (requestedOperation === undefined) throw new GatewayError('internal_error');
      const input =
        clientInput.protocol === 'chat' && name === 'generate'
          ? respondAsChat(parts.converter, clientInput)
          : clientInput;
      const exchange = openExchange(parts, input);
      const admission = await admitExchange(parts, requestedOperation, exchange);
      if (admission === null) return;
      const { operation, prepared } = admission;
      const kind = exchange.stream && operation.mayStream ? 'stream' : 'buffered';
      parts.observer.opened(kind, exchange);
      try {
        await operation.answer(parts, exchange, prepared);
      } finally {
        parts.observer.closed(kind);
      }
    },
  };
}
