import type { GatewayError } from '#errors/index.ts';
import { answer } from '../../answer.ts';
import { writeJson } from '../../exchange/client-response.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { asGatewayError } from '../../exchange/finish.ts';
import type { TickRegistration } from '../../exchange/ticker.ts';
import { createFraming } from '../../streams/framing.ts';
import { StreamSink } from '../../streams/stream-sink.ts';
import type { TextInput } from '../../text/input.ts';
import type { PictureParts } from './parts.ts';
import { PictureSender } from './picture-sender.ts';
import type { PreparedPictures } from './prepared.ts';
import type { PictureSurface } from './surface.ts';

const noBody = Buffer.alloc(0);

/** As for text: until then an error can still have a status of its own. */
const headHoldMs = 10_000;

/**
 * A streamed response is sent in one piece too: nothing of it may be seen before its row is durable. Until then the
 * connection is kept alive.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerPictures(
  parts: PictureParts,
  surface: PictureSurface,
  exchange: Exchange<TextInput>,
  prepared: PreparedPictures,
): Promise<void> {
  const { input } = exchange;
  const { id, client, framing, protocol: name } = input;
  // The prepared request owns the bytes now; hashing megabytes for the log is not worth it.
  input.body = noBody;
  const protocol = parts.protocols[name];
  const sink = exchange.stream
    ? new StreamSink(client, protocol, createFraming(framing), parts.clock.monotonic)
    : null;
  const ticks = sink === null ? null : keepAlive(parts, sink);
  const encodeError = (error: GatewayError) => protocol.encodeStreamError(error, id, null);
  try {
    await answer(parts, exchange, {
      routes: prepared.routes,
      sender: new PictureSender(parts, surface, input, prepared),
      sink,
      measure: ({ measured }) => measured,
      write({ body }, headers) {
        if (sink === null) return writeJson(client, body, headers);
        ticks?.end();
        sink.open(headers);
        client.end(body);
      },
      encodeError,
    });
  } catch (error) {
    if (sink?.opened !== true) throw error;
    sink.end([encodeError(asGatewayError(parts, input, error))]);
  } finally {
    ticks?.end();
  }
}

function keepAlive(
  { ticker, clock, timeouts }: Pick<PictureParts, 'ticker' | 'clock' | 'timeouts'>,
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
