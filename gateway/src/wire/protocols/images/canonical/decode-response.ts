import type { Image, ImageResponse, ImageSource, ReportedUsage } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { parseImages } from '../../shared/text/parse-bodies.ts';
import { headOf, readInlineImage, readImage, readText } from '../../shared/images/image-text.ts';
import { UnreadableResponse } from '../../protocol.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../shared/values.ts';

/**
 * Reads the images of a response that `readResponse` accepted, failed entries not included.
 * @param usage as it was read there
 * @throws UnreadableResponse for an entry without an image
 */
export function decodeImageResponse(body: Buffer, usage: ReportedUsage | null): ImageResponse {
  const response = parseImages(body);
  const { data } = response;
  const entries = Array.isArray(data) ? data.filter(isRecord) : [];
  const images = entries
    .filter((entry) => isAbsent(entry['error']))
    .map((entry) => readEntry(entry, response, usage));
  return { images, usage, others: [] };
}

function readEntry(entry: JsonRecord, response: JsonRecord, usage: ReportedUsage | null): Image {
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

/** What has no mark of an image is believed to be what the entry says. */
function readSource({ b64_json: base64, url, output_format: format }: JsonRecord): ImageSource {
  if (isAbsent(base64)) return readImage(url, 'url');
  if (/^data:/i.test(headOf(base64))) return readImage(base64, 'b64_json');
  const declaredType = `image/${typeof format === 'string' ? format : 'png'}`;
  return readInlineImage(base64, declaredType, 'b64_json');
}
