import type { ImageResponse } from '#canonical/index.ts';
import { writeJsonPieces, type Edit, keyBytes } from '#json/index.ts';
import type { ResponseContext } from '../../codec.ts';
import { encodeSource } from './encode-request.ts';
import { writeUsage } from '../codec/response/candidate-members.ts';
import { editOfModel } from '../../shared/text/echo.ts';
import type { EventPieces } from '../../shared/images/image-stream.ts';
import type { ModelEcho } from '../../protocol.ts';

/** One candidate for each image, in pieces: images are not copied. Those that are not bytes must have been fetched. */
export function encodeImageResponse(
  { images, usage }: ImageResponse,
  { requestId, model }: Pick<ResponseContext, 'requestId' | 'model'>,
): Buffer[] {
  return writeJsonPieces({
    candidates: images.map(({ source }, index) => ({
      content: { role: 'model', parts: [encodeSource(source)] },
      finishReason: 'STOP',
      index,
    })),
    ...(usage !== null && { usageMetadata: writeUsage(usage.tokens) }),
    modelVersion: model,
    responseId: requestId,
  });
}

const modelPath = [keyBytes('modelVersion')];

/** Gives the response of an upstream of this protocol the client's name of the model. Null: it stays as it is. */
export function echoInImages(body: Buffer, echo: ModelEcho): Edit | null {
  return editOfModel(body, modelPath, echo);
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/** In bytes. */
const pieceLength = 256 * 1024;

/**
 * A whole response as a stream with one event.
 * @param body is changed: an event is one line, so its line ends become spaces
 */
export function* imageEvents(body: Buffer): Generator<EventPieces> {
  yield { name: null, pieces: piecesOf(body), dataStart: field.length };
}

const field = Buffer.from('data: ');

function* piecesOf(body: Buffer): Generator<Buffer> {
  yield field;
  for (let from = 0; from < body.length; from += pieceLength) {
    yield onOneLine(body.subarray(from, from + pieceLength));
  }
  yield Buffer.from('\n\n');
}

function onOneLine(piece: Buffer): Buffer {
  if (!piece.includes(lineFeed) && !piece.includes(carriageReturn)) return piece;
  for (let at = 0; at < piece.length; at += 1) {
    if (piece[at] === lineFeed || piece[at] === carriageReturn) piece[at] = space;
  }
  return piece;
}
