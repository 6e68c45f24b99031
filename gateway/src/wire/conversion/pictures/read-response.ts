import type { PictureResponse } from '#canonical/index.ts';
import type { Edit } from '#json/index.ts';
import { images, pictures, type ImageResponse, type ModelEcho } from '#protocols/index.ts';
import type { PictureUpstream } from './convert-request.ts';

export interface PictureReading {
  readonly upstream: PictureUpstream;
  /** The client speaks the upstream's protocol and gets the response as it is. */
  readonly isOwn: boolean;
  readonly echo: ModelEcho;
}

export interface ReadPictures {
  /** What an upstream of images states. Null: only the pictures tell. */
  readonly answered: Omit<ImageResponse, 'body'> | null;
  readonly found: PictureResponse;
  /** Gives the response the client's name of the model. Null: there is nothing to replace, or the response is converted. */
  readonly edit: Edit | null;
}

/**
 * Reads a whole response with pictures. Nothing is fetched, and pictures stay slices of the body.
 * @throws UnreadableResponse
 */
export function readPictures(
  body: Buffer,
  { upstream, isOwn, echo }: PictureReading,
): ReadPictures {
  const contents = pictures['generate-content'];
  if (isOwn) {
    return { answered: null, found: contents.findPictures(body), edit: contents.echo(body, echo) };
  }
  if (upstream !== 'images') {
    return { answered: null, found: contents.decodeResponse(body), edit: null };
  }
  const { upstreamModel } = echo;
  const read = images.readResponse(body, { clientModel: upstreamModel, upstreamModel });
  const { body: _, ...answered } = read;
  return { answered, found: pictures.images.decodeResponse(body, read.usage), edit: null };
}
