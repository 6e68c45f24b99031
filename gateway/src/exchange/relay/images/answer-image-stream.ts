import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { images } from '#protocols/index.ts';
import { answer } from '../answer.ts';
import type { Sender } from '../attempts/sender.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { SentRequest } from '../exchange/tried.ts';
import { createFraming } from '../streams/framing.ts';
import { StreamSink } from '../streams/stream-sink.ts';
import { MixedStreamSender } from './converted/mixed-stream-sender.ts';
import type { PictureParts } from './converted/parts.ts';
import type { ImageStreamOutcome } from './image-stream-attempt.ts';
import type { ImageInput } from './input.ts';
import type { ImageParts } from './parts.ts';
import type { PreparedImages } from './prepared.ts';

const noBody = Buffer.alloc(0);

/** A streamed exchange: its request, how its events are written, and where they go. */
export interface ImageStreaming {
  readonly routes: readonly Route[];
  readonly sender: Sender<SentRequest, ImageStreamOutcome>;
  readonly sink: StreamSink;
  /** The last event of a stream that failed. */
  readonly encodeError: (error: GatewayError) => string;
}

/**
 * Answers a request whose pictures are streamed.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export function answerImageStream(
  parts: PictureParts,
  exchange: Exchange<ImageInput>,
  prepared: PreparedImages,
): Promise<void> {
  const { input } = exchange;
  const framing = createFraming('event-stream');
  const sink = new StreamSink(input.client, images, framing, parts.clock.monotonic);
  const sender = new MixedStreamSender(parts, input, prepared, sink);
  // Without `[DONE]`, which would mean success.
  const encodeError = images.encodeStreamError;
  return streamPictures(parts, exchange, { routes: prepared.routes, sender, sink, encodeError });
}

/** @throws GatewayError when nothing has been written to the client yet. */
export function streamPictures(
  parts: ImageParts,
  exchange: Exchange,
  { routes, sender, sink, encodeError }: ImageStreaming,
): Promise<void> {
  // The prepared request owns the bytes now; hashing megabytes for the log is not worth it.
  exchange.input.body = noBody;
  return answer(parts, exchange, {
    routes,
    sender,
    sink,
    measure: ({ measured }) => measured,
    measureBroken: ({ seen }) => seen,
    write({ rest }, headers) {
      sink.open(headers);
      sink.end(rest);
    },
    encodeError,
  });
}
