import type { ImageSource } from '#canonical/index.ts';
import { LongText, parseWithLongTexts, writeJson } from '#json/index.ts';
import { imageCodecs, type ImagesRequest, invalid } from '#protocols/index.ts';
import { inBase64 } from './recode.ts';

/** Fields of a form that are texts whatever they look like. */
const texts: ReadonlySet<string> = new Set([
  'prompt',
  'size',
  'quality',
  'background',
  'output_format',
  'moderation',
  'response_format',
  'user',
]);

/**
 * An edit as a generation, for an upstream that has one endpoint for both: its images become `image`, as data URIs or
 * addresses. Everything else stays.
 * @throws GatewayError `invalid_value` for a mask, and for a file that only its vendor has
 */
export async function editAsGeneration(request: ImagesRequest): Promise<ImagesRequest> {
  const { prompt, sources, mask } = imageCodecs.images.decodeRequest(request);
  if (mask !== null) throw invalid('mask', 'cannot be used with this model');
  const image: LongText[] = [];
  for (const source of sources) image.push(reference(await inBase64(source)));
  const { model, encoding } = request;
  const members =
    encoding === 'multipart' ? typedFields(request.members) : parseWithLongTexts(request.body);
  const start = '{"model":'.length;
  const body = writeJson({
    model,
    ...without(members, ['model', 'prompt', 'image', 'images', 'mask']),
    prompt,
    image: image.length === 1 ? image[0] : image,
  });
  const end = start + Buffer.byteLength(JSON.stringify(model));
  return {
    ...request,
    form: 'generation',
    encoding: 'json',
    contentType: 'application/json',
    body,
    modelRange: { start, end },
    promptRange: { start: 0, end: 0 },
    files: [],
  };
}

function reference(source: ImageSource): LongText {
  switch (source.kind) {
    case 'url':
      return new LongText(source.url);
    case 'base64':
      return new LongText(`data:${source.mime ?? 'image/png'};base64,`, source.base64);
    default:
      throw invalid('image', 'must be a picture, and not the id of a file');
  }
}

/** The fields of a form as the members of JSON that they stand for. */
function typedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      texts.has(name) || typeof value !== 'string' ? value : valueOf(value),
    ]),
  );
}

function valueOf(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    // A text in quotes has been checked with them, so it stays what it is.
    return typeof value === 'string' ? text : value;
  } catch {
    // Any other text.
    return text;
  }
}

function without(
  members: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}
