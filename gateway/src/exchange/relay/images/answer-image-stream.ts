import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { images } from '#protocols/index.ts';
import { attemptUntilAnswered } from '../attempts/failover.ts';
import type { Sender } from '../attempts/sender.ts';
import type { Exchange } from '../exchange/exchange.ts';
import {
  asGatewayError,
  finishCompleted,
  finishDisconnected,
  finishFailed,
  finishWithoutResponse,
} from '../exchange/finish.ts';
import { nothingUsed } from '../exchange/measured.ts';
import type { SentRequest } from '../exchange/tried.ts';
import { createFraming } from '../streams/framing.ts';
import { StreamSink } from '../streams/stream-sink.ts';
import { MixedStreamSender } from './converted/mixed-stream-sender.ts';
import type { PictureParts } from './converted/parts.ts';
import type { ImageStreamAttempt, ImageStreamOutcome } from './image-stream-attempt.ts';
import type { ImageInput } from './input.ts';
import type { ImageParts } from './parts.ts';
import type { PreparedImages } from './prepared.ts';
import { responseHeaders } from '../exchange/response-headers.ts';

const noBody = Buffer.alloc(0);

/** A streamed exchange: its request, how its events are written, and where they go. */
export interface ImageStreaming {
  readonly routes: readonly Route[];
  readonly sender: Sender<SentRequest, ImageStreamOutcome> & {
    readonly attempt: ImageStreamAttempt | null;
  };
  readonly sink: StreamSink;
  /** The last event of a stream that failed. */
  readonly encodeError: (error: GatewayError) => string;
}

/**
 * Answers a request whose pictures are streamed.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerImageStream(
  parts: PictureParts,
  exchange: Exchange<ImageInput>,
  prepared: PreparedImages,
): Promise<void> {
  const { input } = exchange;
  const framing = createFraming('event-stream');
  const sink = new StreamSink(input.client, images, framing, parts.clock.monotonic);
  const sender = new MixedStreamSender(parts, input, prepared, sink);
  const encodeError = images.encodeStreamError;
  await streamPictures(parts, exchange, { routes: prepared.routes, sender, sink, encodeError });
}

/** @throws GatewayError when nothing has been written to the client yet. */
export async function streamPictures(
  parts: ImageParts,
  exchange: Exchange,
  { routes, sender, sink, encodeError }: ImageStreaming,
): Promise<void> {
  const { input } = exchange;
  const { client } = input;
  // Without `[DONE]`, which would mean success.
  const endWithError = (error: GatewayError): void => sink.end([encodeError(error)]);
  // The prepared request has the bytes. Of megabytes no digest is made for the log.
  input.body = noBody;
  client.onDisconnect(() => {
    try {
      sender.attempt?.clientDisconnected();
    } catch (error) {
      sender.attempt?.end(asGatewayError(parts, input, error));
    }
  });

  const attempted = await attemptUntilAnswered(parts, exchange, routes, sender);
  const { outcome, sent } = attempted;
  switch (outcome.kind) {
    case 'unanswered': {
      const failure = await finishWithoutResponse(parts, exchange, outcome.error, attempted);
      // Comments have been sent, so the client already has its status 200: the error goes into the stream.
      if (!sink.opened) throw failure;
      endWithError(failure);
      return;
    }
    case 'not-asked':
    case 'disconnected':
      return finishDisconnected(parts, exchange, nothingUsed, attempted);
    case 'broken': {
      const { error, measured } = outcome;
      if (measured === null) await finishFailed(parts, exchange, error, attempted, 200);
      else await finishDisconnected(parts, exchange, measured, attempted, error);
      endWithError(error);
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
    endWithError(asGatewayError(parts, input, error));
    return;
  }
  sink.open(responseHeaders(sent));
  sink.end(rest);
}
