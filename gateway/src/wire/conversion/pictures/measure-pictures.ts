import type { Picture, PictureResponse } from '#canonical/index.ts';
import { imageSize } from '#estimation/index.ts';
import { inBase64 } from './recode.ts';

/** Characters of Base64 in which the header of a picture with its size is, metadata before it included. */
const headLength = 256 * 1024;

/** The response with its pictures in Base64, each with the size that is in the picture itself. */
export async function measurePictures(response: PictureResponse): Promise<PictureResponse> {
  const pictures: Picture[] = [];
  for (const picture of response.pictures) {
    const source = await inBase64(picture.source);
    const size = source.kind === 'base64' ? sizeIn(source.base64) : null;
    pictures.push({ ...picture, source, size: size ?? picture.size });
  }
  return { ...response, pictures };
}

function sizeIn(base64: Buffer): string | null {
  const size = imageSize(base64.toString('latin1', 0, headLength));
  return size === null ? null : `${size.width}x${size.height}`;
}
