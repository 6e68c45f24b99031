import type { PictureCall } from '#canonical/index.ts';
import { pictureTool, type StreamTap } from '#protocols/index.ts';
import { writePieces } from '../exchange/write-pieces.ts';
import type { StreamSink } from '../streams/stream-sink.ts';
import type { TextInput } from './input.ts';
import type { TextParts } from './parts.ts';
import type { PreparedText } from './prepared.ts';

/** Bytes of a picture that are written at once. */
const pieceBytes = 128 * 1024;

type Parts = Pick<TextParts, 'pictureTool' | 'ticker' | 'timeouts'>;

/** Ends a response whose model has called the picture tool, when the pictures are drawn and their rows durable. */
export async function answerWithPictures(
  parts: Parts,
  { client, ...rest }: TextInput,
  { model }: Pick<PreparedText, 'model'>,
  body: Buffer,
  calls: readonly PictureCall[],
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const drawn = await parts.pictureTool.draw({ client, ...rest }, model, calls);
  try {
    const pieces = pictureTool.withItems(body, drawn.items);
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    client.start(200, {
      'content-type': 'application/json',
      'content-length': String(length),
      ...headers,
    });
    await writePieces(client, smallPieces(pieces));
  } finally {
    drawn.release();
  }
}

/**
 * The same for a stream, which is kept alive meanwhile.
 * @param held what comes before the pictures
 */
export async function streamPictures(
  { pictureTool: tool, ticker, timeouts }: Parts,
  input: TextInput,
  { model }: Pick<PreparedText, 'model'>,
  sink: StreamSink,
  tap: StreamTap,
  held: readonly (Buffer | string)[],
  calls: readonly PictureCall[],
): Promise<void> {
  const { client } = input;
  for (const bytes of held) client.write(bytes);
  const ticks = ticker.add({
    tick: (now) => sink.keepAlive(now, timeouts.keepaliveComment),
    // The picture that is being drawn ends, and with it the response.
    end: () => {},
  });
  let drawn;
  try {
    drawn = await tool.draw(input, model, calls);
  } finally {
    ticks.end();
  }
  try {
    const completion = Buffer.from(tap.completion(drawn.undrawn));
    await writePieces(client, smallPieces(pictureTool.withItems(completion, drawn.items)));
  } finally {
    drawn.release();
  }
}

function* smallPieces(pieces: readonly Buffer[]): Generator<Buffer> {
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += pieceBytes) {
      yield piece.subarray(from, from + pieceBytes);
    }
  }
}
