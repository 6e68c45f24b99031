import { createEmbedOperation } from './embeddings/embed-operation.ts';
import type { EmbedInput } from './embeddings/prepared.ts';
import { admitExchange } from './exchange/admit.ts';
import { type ExchangeParts, openExchange } from './exchange/exchange.ts';
import type { ExchangeInput } from './exchange/input.ts';
import type { Operation } from './exchange/operation.ts';
import { chatSurface } from './images/converted/chat-surface.ts';
import { contentsSurface } from './images/converted/contents-surface.ts';
import { createConvertedImageOperation } from './images/converted/image-operation.ts';
import { createImageOperation } from './images/image-operation.ts';
import type { ImageInput, ConvertedImageParts } from './images/prepared.ts';
import { answeringAsChat } from './text/answer-as-chat.ts';
import type { TextInput, TextParts } from './text/input.ts';
import { createTextOperations } from './text/text-operations.ts';
import type { VideoInput, VideoParts } from './videos/prepared.ts';
import { createVideoOperation } from './videos/video-operation.ts';

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

function isText(input: RelayInput): input is TextInput {
  return input.protocol === 'chat' && input.operation === 'generate';
}

/** Each operation has a line here, and a folder beside `text/`. */
export function createRelay(parts: RelayParts): Relay {
  const text = createTextOperations(parts);
  const inText: Partial<Record<RelayInput['protocol'], Operation<TextInput>>> = {
    [chatSurface.protocol]: createConvertedImageOperation(parts, chatSurface),
    [contentsSurface.protocol]: createConvertedImageOperation(parts, contentsSurface),
  };
  const generate: Operation<TextInput> = {
    ...text.generate,
    instead: ({ protocol }, type) => (type === 'image' ? (inText[protocol] ?? null) : null),
  };
  const ofText: Readonly<Record<TextInput['operation'], Operation>> = { ...text, generate };
  const embed: Operation = createEmbedOperation(parts);
  const images: Operation = createImageOperation(parts);
  const videos: Operation = createVideoOperation(parts);
  const operationFor = (input: RelayInput): Operation => {
    switch (input.protocol) {
      case 'embeddings':
        return embed;
      case 'images':
        return images;
      case 'video-synthesis':
      case 'video-contents':
        return videos;
      default:
        return ofText[input.operation];
    }
  };
  return {
    async run(given) {
      const input = isText(given) ? answeringAsChat(parts.converter, given) : given;
      await runExchange(parts, operationFor(input), input);
    },
  };
}

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
