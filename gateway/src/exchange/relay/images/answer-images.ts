import { attemptUntilAnswered } from '../attempts/failover.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { finishCompleted, finishDisconnected, finishWithoutResponse } from '../exchange/finish.ts';
import { nothingUsed } from '../exchange/measured.ts';
import { responseHeaders } from '../exchange/response-headers.ts';
import { MixedImageSender } from './converted/mixed-sender.ts';
import type { PictureParts } from './converted/parts.ts';
import type { ImageInput } from './input.ts';
import type { PreparedImages } from './prepared.ts';

const noBody = Buffer.alloc(0);

/** @throws GatewayError when nothing has been written to the client yet; SpoolFailure when the response broke off. */
export async function answerImages(
  parts: PictureParts,
  exchange: Exchange<ImageInput>,
  prepared: PreparedImages,
): Promise<void> {
  const { input } = exchange;
  // The prepared request has the bytes. Of megabytes no digest is made for the log.
  input.body = noBody;
  const sender = new MixedImageSender(parts, input, prepared);
  const attempted = await attemptUntilAnswered(parts, exchange, prepared.routes, sender);
  const { outcome, sent } = attempted;
  switch (outcome.kind) {
    case 'unanswered':
      throw await finishWithoutResponse(parts, exchange, outcome.error, attempted);
    case 'not-asked':
    // A client that leaves once the request has been sent is waited for: nothing had been sent.
    case 'disconnected':
      return finishDisconnected(parts, exchange, nothingUsed, attempted);
    case 'complete':
  }
  const { response } = outcome;
  if (sent !== null) sent.ttftMs = parts.clock.monotonic() - input.startedAt;
  await finishCompleted(parts, exchange, response.measured, attempted);
  input.client.start(200, {
    'content-type': 'application/json',
    'content-length': String('body' in response ? response.body.length : response.length),
    ...responseHeaders(sent),
  });
  // A converted response is in memory anyway.
  if ('body' in response) input.client.end(response.body);
  else await response.writeTo(input.client);
}
