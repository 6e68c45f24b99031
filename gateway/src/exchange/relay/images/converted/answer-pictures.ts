import { attemptUntilAnswered } from '../../attempts/failover.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import {
  asGatewayError,
  finishCompleted,
  finishDisconnected,
  finishWithoutResponse,
} from '../../exchange/finish.ts';
import { nothingUsed } from '../../exchange/measured.ts';
import { responseHeaders } from '../../exchange/response-headers.ts';
import type { TextInput } from '../../text/input.ts';
import type { PictureParts } from './parts.ts';
import { PictureSender } from './picture-sender.ts';
import type { PreparedPictures } from './prepared.ts';
import type { PictureSurface } from './surface.ts';
import { WaitingStream } from './waiting-stream.ts';

const noBody = Buffer.alloc(0);

/**
 * A streamed response is sent in one piece too: nothing of it may be seen before its row is durable.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerPictures(
  parts: PictureParts,
  surface: PictureSurface,
  exchange: Exchange<TextInput>,
  prepared: PreparedPictures,
): Promise<void> {
  const { input } = exchange;
  // The prepared request has the bytes. Of megabytes no digest is made for the log.
  input.body = noBody;
  const stream = exchange.stream ? openStream(parts, input) : null;
  try {
    const sender = new PictureSender(parts, surface, input, prepared);
    const attempted = await attemptUntilAnswered(parts, exchange, prepared.routes, sender);
    const { outcome, sent } = attempted;
    switch (outcome.kind) {
      case 'unanswered':
        throw await finishWithoutResponse(parts, exchange, outcome.error, attempted);
      case 'not-asked':
      // A client that leaves once the request has been sent is waited for: nothing had been sent.
      case 'disconnected':
        await finishDisconnected(parts, exchange, nothingUsed, attempted);
        return;
      case 'complete':
    }
    const { body, measured } = outcome.response;
    if (sent !== null) sent.ttftMs = parts.clock.monotonic() - input.startedAt;
    await finishCompleted(parts, exchange, measured, attempted);
    const headers = responseHeaders(sent);
    if (stream !== null) stream.end(body, headers);
    else {
      const length = String(body.length);
      input.client.start(200, {
        'content-type': 'application/json',
        'content-length': length,
        ...headers,
      });
      input.client.end(body);
    }
  } catch (error) {
    if (stream?.opened !== true) throw error;
    stream.fail(asGatewayError(parts, input, error), input.id);
  } finally {
    stream?.stop();
  }
}

function openStream(
  { protocols, ticker, clock, timeouts }: PictureParts,
  { client, framing, protocol }: TextInput,
): WaitingStream {
  return new WaitingStream({
    client,
    framing,
    protocol: protocols[protocol],
    ticker,
    monotonic: clock.monotonic,
    keepAliveMs: timeouts.keepaliveComment,
  });
}
