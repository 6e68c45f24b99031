import type { PictureResponse } from '#canonical/index.ts';
import { writeJsonPieces } from '#json/index.ts';
import type { ResponseContext } from '../../codec.ts';
import { encodeSource } from './encode-request.ts';
import { writeUsage } from '../codec/response/write-usage.ts';

/** One candidate for each picture, in pieces: pictures are not copied. Those that are not bytes must have been fetched. */
export function encodePictureResponse(
  { pictures, usage }: PictureResponse,
  { requestId, model }: Pick<ResponseContext, 'requestId' | 'model'>,
): Buffer[] {
  return writeJsonPieces({
    candidates: pictures.map(({ source }, index) => ({
      content: { role: 'model', parts: [encodeSource(source)] },
      finishReason: 'STOP',
      index,
    })),
    ...(usage !== null && { usageMetadata: writeUsage(usage.tokens) }),
    modelVersion: model,
    responseId: requestId,
  });
}
