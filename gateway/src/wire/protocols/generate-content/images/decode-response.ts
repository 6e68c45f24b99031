import type { Image, ImageResponse, ReportedUsage } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { parseImages } from '../../shared/text/parse-bodies.ts';
import { readInlineImage } from '../../shared/images/image-text.ts';
import { UnreadableResponse } from '../../protocol.ts';
import { isRecord, recordAt, textOf, type JsonRecord } from '../../shared/values.ts';
import { searchesIn, readUsage } from '../native/response.ts';

/** Why a prompt or an image was not let through. Other reasons to finish say that there is no image. */
const blockedBy: ReadonlySet<string> = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
]);

/** The images of a response, and whether the prompt or an image was blocked. */
export interface FoundImages extends ImageResponse {
  readonly isBlocked: boolean;
}

/**
 * Reads a whole response for a client of another protocol.
 * @throws UnreadableResponse without any image: with a refusal in its body if the prompt or all images were blocked
 */
export function decodeImageResponse(body: Buffer): ImageResponse {
  const { isBlocked, ...response } = findImages(body);
  if (response.images.length > 0) return response;
  const { usage } = response;
  if (isBlocked) throw new UnreadableResponse('the pictures were blocked', blocked, usage);
  throw new UnreadableResponse('the response has no picture', null, usage);
}

/**
 * Finds the images in a whole response, drafts among the thoughts not included. Their sizes are in the images.
 * @throws UnreadableResponse if it is not a response, or an image is not one
 */
export function findImages(body: Buffer): FoundImages {
  const response = parseImages(body);
  const usage = readUsage(response['usageMetadata'], searchesIn(response));
  if (isRecord(response['error'])) {
    throw new UnreadableResponse('the response carries an error', response, usage);
  }
  if (!Array.isArray(response['candidates']) && !isRecord(response['promptFeedback'])) {
    throw new UnreadableResponse(
      'the response has neither candidates nor a block reason',
      null,
      usage,
    );
  }
  const candidates = recordsIn(response['candidates']);
  const images: Image[] = [];
  const others = new Set<string>();
  for (const candidate of candidates) {
    for (const part of recordsIn(recordAt(candidate, 'content')['parts'])) {
      if (part['thought'] === true) continue;
      if (isRecord(part['inlineData'])) images.push(readImage(part['inlineData'], usage));
      else if (part['text'] !== undefined && part['text'] !== '') others.add('text');
    }
  }
  return { images, usage, others: [...others], isBlocked: isBlocked(response, candidates) };
}

/** The refusal that other vendors give for such a request. */
const blocked = Object.freeze({
  error: { code: 400, status: 'INVALID_ARGUMENT', message: 'content_policy' },
});

function isBlocked(response: JsonRecord, candidates: readonly JsonRecord[]): boolean {
  if (textOf(recordAt(response, 'promptFeedback')['blockReason']) !== '') return true;
  return candidates.some(({ finishReason }) => blockedBy.has(textOf(finishReason)));
}

function readImage(data: JsonRecord, usage: ReportedUsage | null): Image {
  try {
    const source = readInlineImage(data['data'], textOf(data['mimeType']), 'data');
    return { source, size: null, revisedPrompt: null };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new UnreadableResponse('a part of the response is not a picture', null, usage);
  }
}

function recordsIn(list: unknown): readonly JsonRecord[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
