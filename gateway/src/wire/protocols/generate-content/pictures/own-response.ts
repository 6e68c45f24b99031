import { keyBytes } from '#json/index.ts';
import { echoModel } from '../../echo.ts';
import type { ModelEcho } from '../../protocol.ts';

const modelPath = [keyBytes('modelVersion')];

/** The response of an upstream of this protocol, with the client's name of the model. */
export function ownPictureResponse(body: Buffer, echo: ModelEcho): Buffer {
  return echoModel(body, modelPath, echo);
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/**
 * A whole response as a stream with one event.
 * @param body is changed: an event is one line, so its line ends become spaces
 */
export function* pictureEvents(body: Buffer): Generator<Buffer> {
  for (const end of [lineFeed, carriageReturn]) {
    for (let at = body.indexOf(end); at >= 0; at = body.indexOf(end, at + 1)) body[at] = space;
  }
  yield Buffer.concat([Buffer.from('data: '), body, Buffer.from('\n\n')]);
}
