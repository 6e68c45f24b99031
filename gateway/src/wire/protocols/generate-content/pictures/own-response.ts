import { type Edit, keyBytes } from '#json/index.ts';
import { editOfModel } from '../../echo.ts';
import type { ModelEcho } from '../../protocol.ts';

const modelPath = [keyBytes('modelVersion')];

/** Gives the response of an upstream of this protocol the client's name of the model. Null: it stays as it is. */
export function echoInPictures(body: Buffer, echo: ModelEcho): Edit | null {
  return editOfModel(body, modelPath, echo);
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
