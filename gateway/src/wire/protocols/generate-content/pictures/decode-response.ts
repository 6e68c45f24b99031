import type { Picture, PictureResponse, ReportedUsage } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { parsePictures } from '../../shared/text/parse-bodies.ts';
import { readInlinePicture } from '../../shared/pictures/picture-text.ts';
import { UnreadableResponse } from '../../protocol.ts';
import { isRecord, recordAt, textOf, type JsonRecord } from '../../shared/values.ts';
import { searchesIn, readUsage } from '../native/response.ts';

/** Why a prompt or a picture was not let through. Other reasons to finish say that there is no picture. */
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

/** The pictures of a response, and whether the prompt or a picture was blocked. */
export interface FoundPictures extends PictureResponse {
  readonly isBlocked: boolean;
}

/**
 * Reads a whole response for a client of another protocol.
 * @throws UnreadableResponse without any picture: with a refusal in its body if the prompt or all pictures were blocked
 */
export function decodePictureResponse(body: Buffer): PictureResponse {
  const { isBlocked, ...response } = findPictures(body);
  if (response.pictures.length > 0) return response;
  const { usage } = response;
  if (isBlocked) throw new UnreadableResponse('the pictures were blocked', blocked, usage);
  throw new UnreadableResponse('the response has no picture', null, usage);
}

/**
 * Finds the pictures in a whole response, drafts among the thoughts not included. Their sizes are in the pictures.
 * @throws UnreadableResponse if it is not a response, or a picture is not one
 */
export function findPictures(body: Buffer): FoundPictures {
  const response = parsePictures(body);
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
  const pictures: Picture[] = [];
  const others = new Set<string>();
  for (const candidate of candidates) {
    for (const part of recordsIn(recordAt(candidate, 'content')['parts'])) {
      if (part['thought'] === true) continue;
      if (isRecord(part['inlineData'])) pictures.push(readPicture(part['inlineData'], usage));
      else if (part['text'] !== undefined && part['text'] !== '') others.add('text');
    }
  }
  return { pictures, usage, others: [...others], isBlocked: isBlocked(response, candidates) };
}

/** The refusal that other vendors give for such a request. */
const blocked = Object.freeze({
  error: { code: 400, status: 'INVALID_ARGUMENT', message: 'content_policy' },
});

function isBlocked(response: JsonRecord, candidates: readonly JsonRecord[]): boolean {
  if (textOf(recordAt(response, 'promptFeedback')['blockReason']) !== '') return true;
  return candidates.some(({ finishReason }) => blockedBy.has(textOf(finishReason)));
}

function readPicture(data: JsonRecord, usage: ReportedUsage | null): Picture {
  try {
    const source = readInlinePicture(data['data'], textOf(data['mimeType']), 'data');
    return { source, size: null, revisedPrompt: null };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new UnreadableResponse('a part of the response is not a picture', null, usage);
  }
}

function recordsIn(list: unknown): readonly JsonRecord[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
