import type { GatewayError } from '#errors/index.ts';
import { writeJson } from '../../exchange/client-response.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { asGatewayError } from '../../exchange/finish.ts';
import type { TickRegistration } from '../../exchange/ticker.ts';
import { createFraming } from '../../streams/framing.ts';
import { StreamSink } from '../../streams/stream-sink.ts';
import type { TextInput } from '../../text/input.ts';
import type { MeasuredImages } from '../image-response-reader.ts';
import { answerStream, answerWhole, type ImageServing } from '../image-plan.ts';
import type { ConvertedImageParts } from '../prepared.ts';
import { ConvertedRequests } from './converted-requests.ts';
import type { ImageSurface, PreparedImages } from './surface.ts';

/** As for text: until then an error can still have a status of its own. */
const headHoldMs = 10_000;

/**
 * Answers a request for images in a text protocol.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export function answerImages(
  parts: ConvertedImageParts,
  surface: ImageSurface,
  exchange: Exchange<TextInput>,
  prepared: PreparedImages,
): Promise<void> {
  const { input, stream } = exchange;
  const { id, client, framing, protocol: name } = input;
  const protocol = parts.protocols[name];
  const target = { side: surface, streamed: stream ? surface.streamed : undefined };
  const requests = new ConvertedRequests(parts, target, input, prepared);
  const serving: ImageServing<MeasuredImages> = {
    model: prepared.opened.model,
    routes: prepared.routes,
    requestsTo: () => requests,
    reserved: prepared.reserved,
    members: null,
  };
  if (!stream) {
    return answerWhole(parts, exchange, serving, {
      sink: null,
      write: ({ body }, headers) => writeJson(client, body, headers),
    });
  }
  const sink = new StreamSink(client, protocol, createFraming(framing), parts.clock.monotonic);
  const encodeError = (error: GatewayError) => protocol.encodeStreamError(error, id, null);
  return surface.streamed === undefined
    ? answerAtOnce(parts, exchange, serving, sink, encodeError)
    : answerStream(parts, exchange, serving, sink, encodeError);
}

/**
 * A stream that is sent in one piece: nothing of it may be seen before its row is durable. Until then the connection is
 * kept alive.
 */
async function answerAtOnce(
  parts: ConvertedImageParts,
  exchange: Exchange<TextInput>,
  serving: ImageServing<MeasuredImages>,
  sink: StreamSink,
  encodeError: (error: GatewayError) => string,
): Promise<void> {
  const { input } = exchange;
  const ticks = keepAlive(parts, sink);
  try {
    await answerWhole(parts, exchange, serving, {
      sink,
      write({ body }, headers) {
        ticks.end();
        sink.open(headers);
        input.client.end(body);
      },
      encodeError,
    });
  } catch (error) {
    if (!sink.opened) throw error;
    sink.end([encodeError(asGatewayError(parts, input, error))]);
  } finally {
    ticks.end();
  }
}

function keepAlive(
  { ticker, clock, timeouts }: Pick<ConvertedImageParts, 'ticker' | 'clock' | 'timeouts'>,
  sink: StreamSink,
): TickRegistration {
  const openAt = clock.monotonic() + headHoldMs;
  return ticker.add({
    tick(now) {
      if (now >= openAt) sink.open({});
      sink.keepAlive(now, timeouts.keepaliveComment);
    },
    // The attempt under way ends the exchange.
    end: () => {},
  });
}
