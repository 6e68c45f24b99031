import { type ImageResponse, type TokenUsage, inputSum } from '#canonical/index.ts';
import { LongText, writeJsonPieces } from '#json/index.ts';
import { formatOf } from '../../shared/images/image-text.ts';
import type { JsonRecord } from '../../shared/values.ts';

/**
 * The result of an images request, in pieces: images are not copied. `size` and `output_format` are those of the
 * images themselves.
 */
export function encodeImageResponse(
  { images, usage }: ImageResponse,
  { createdAt }: { readonly createdAt: number },
): Buffer[] {
  const data = images.map(({ source, size, revisedPrompt }) => {
    if (source.kind !== 'base64') throw new TypeError('a converted picture is not in Base64');
    return {
      b64_json: new LongText(source.base64),
      ...(revisedPrompt !== null && { revised_prompt: revisedPrompt }),
      ...(size !== null && { size }),
      ...(source.mime !== null && { output_format: formatOf(source.mime) }),
    };
  });
  return writeJsonPieces({
    created: Math.trunc(createdAt),
    ...only(data, 'size'),
    ...only(data, 'output_format'),
    data,
    ...(usage !== null && { usage: usageOf(usage.tokens) }),
  });
}

/** What all images have in common is said of the whole response too, as OpenAI does. */
function only(data: readonly JsonRecord[], name: string): JsonRecord {
  const values = new Set(data.map((entry) => entry[name]));
  const [value] = values;
  return values.size === 1 && value !== undefined ? { [name]: value } : {};
}

function usageOf(tokens: TokenUsage): JsonRecord {
  const { output, inputImage = 0, cacheReadImage = 0, outputImage = 0 } = tokens;
  const input = inputSum(tokens);
  const inputImages = inputImage + cacheReadImage;
  return {
    total_tokens: input + output,
    input_tokens: input,
    output_tokens: output,
    input_tokens_details: { text_tokens: input - inputImages, image_tokens: inputImages },
    output_tokens_details: { text_tokens: output - outputImage, image_tokens: outputImage },
  };
}
