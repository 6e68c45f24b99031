import type { GatewayError } from '#errors/index.ts';
import { images } from '#protocols/index.ts';
import { attemptUntilAnswered } from '../attempts/failover.ts';
import type { Exchange } from '../exchange/exchange.ts';
import {
  asGatewayError,
  finishCompleted,
  finishDisconnected,
  finishFailed,
  finishWithoutResponse,
} from '../exchange/finish.ts';
import { nothingUsed } from '../exchange/measured.ts';
import { createFraming } from '../streams/framing.ts';
import { StreamSink } from '../streams/stream-sink.ts';
import { ImageStreamSender } from './image-stream-sender.ts';
import type { ImageInput } from './input.ts';
import type { ImageParts } from './parts.ts';
import type { PreparedImages } from './prepared.ts';
import { responseHeaders } from '../exchange/response-headers.ts';

const noBody = Buffer.alloc(0);

/**
 * Answers a request whose pictures are streamed.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerImageStream(
  parts: ImageParts,
  exchange: Exchange<ImageInput>,
  prepared: PreparedImages,
): Promise<void> {
  const { input } = exchange;
  const { client } = input;
  // The prepared request has the bytes. Of megabytes no digest is made for the log.
  input.body = noBody;
  const sink = new StreamSink(client, images, createFraming('event-stream'), parts.clock.monotonic);
  const sender = new ImageStreamSender(parts, input, prepared, sink);
  client.onDisconnect(() => {
    try {
      sender.attempt?.clientDisconnected();
    } catch (error) {
      sender.attempt?.end(asGatewayError(parts, input, error));
    }
  });

  const attempted = await attemptUntilAnswered(parts, input, prepared.routes, sender);
  const { outcome, sent } = attempted;
  switch (outcome.kind) {
    case 'unanswered': {
      const failure = await finishWithoutResponse(parts, exchange, outcome.error, attempted);
      // Comments have been sent, so the client already has its status 200: the error goes into the stream.
      if (!sink.opened) throw failure;
      endWithError(sink, failure);
      return;
    }
    case 'not-asked':
    case 'disconnected':
      return finishDisconnected(parts, exchange, nothingUsed, attempted);
    case 'broken': {
      const { error, measured } = outcome;
      if (measured === null) await finishFailed(parts, exchange, error, attempted, 200);
      else await finishDisconnected(parts, exchange, measured, attempted, error);
      endWithError(sink, error);
      return;
    }
    case 'complete':
  }
  const { measured, rest } = outcome;
  if (client.disconnected) return finishDisconnected(parts, exchange, measured, attempted);
  try {
    await finishCompleted(parts, exchange, measured, attempted);
  } catch (error) {
    if (!sink.opened) throw error;
    endWithError(sink, asGatewayError(parts, input, error));
    return;
  }
  sink.open(responseHeaders(sent));
  sink.end(rest);
}

/** Without `[DONE]`, which would mean success. */
function endWithError(sink: StreamSink, error: GatewayError): void {
  sink.end([images.encodeStreamError(error)]);
}
