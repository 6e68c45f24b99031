import type { Picture, PictureResponse, PictureSource, ReportedUsage } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { parsePictures } from '../../shared/text/parse-bodies.ts';
import {
  headOf,
  readInlinePicture,
  readPicture,
  readText,
} from '../../shared/pictures/picture-text.ts';
import { UnreadableResponse } from '../../protocol.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../shared/values.ts';

/**
 * Reads the pictures of a response that `readResponse` accepted, failed entries not included.
 * @param usage as it was read there
 * @throws UnreadableResponse for an entry without a picture
 */
export function decodePictureResponse(body: Buffer, usage: ReportedUsage | null): PictureResponse {
  const response = parsePictures(body);
  const { data } = response;
  const entries = Array.isArray(data) ? data.filter(isRecord) : [];
  const pictures = entries
    .filter((entry) => isAbsent(entry['error']))
    .map((entry) => readEntry(entry, response, usage));
  return { pictures, usage, others: [] };
}

function readEntry(entry: JsonRecord, response: JsonRecord, usage: ReportedUsage | null): Picture {
  try {
    const size = entry['size'] ?? response['size'];
    return {
      source: readSource(entry),
      size: typeof size === 'string' ? size : null,
      revisedPrompt: readText(entry['revised_prompt'], 'revised_prompt'),
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new UnreadableResponse('an entry has no picture', null, usage);
  }
}

/** What has no mark of a picture is believed to be what the entry says. */
function readSource({ b64_json: base64, url, output_format: format }: JsonRecord): PictureSource {
  if (isAbsent(base64)) return readPicture(url, 'url');
  if (/^data:/i.test(headOf(base64))) return readPicture(base64, 'b64_json');
  const declared = `image/${typeof format === 'string' ? format : 'png'}`;
  return readInlinePicture(base64, declared, 'b64_json');
}
