import type { Exchange } from '../../exchange/exchange.ts';
import { createFraming } from '../../streams/framing.ts';
import { StreamSink } from '../../streams/stream-sink.ts';
import type { TextInput } from '../../text/input.ts';
import { streamPictures } from '../answer-image-stream.ts';
import type { PictureParts } from './parts.ts';
import { PictureStreamSender } from './picture-stream-sender.ts';
import type { StreamedPictures } from './streamed-pictures.ts';
import type { PreparedPictures } from './prepared.ts';
import type { PictureSide } from './surface.ts';

/**
 * Streams pictures in a text protocol.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerPictureStream(
  parts: PictureParts,
  of: { readonly side: PictureSide; readonly streamed: StreamedPictures },
  exchange: Exchange<TextInput>,
  prepared: PreparedPictures,
): Promise<void> {
  const { input } = exchange;
  const protocol = parts.protocols[input.protocol];
  const framing = createFraming(input.framing);
  const sink = new StreamSink(input.client, protocol, framing, parts.clock.monotonic);
  await streamPictures(parts, exchange, {
    routes: prepared.routes,
    sender: new PictureStreamSender(parts, of, input, prepared, sink),
    sink,
    encodeError: (error) => protocol.encodeStreamError(error, input.id, null),
  });
}
