import type { ImageRequest, ImageSource } from '#canonical/index.ts';
import { parseWithLongTexts } from '#json/index.ts';
import { longestPrompt, readSource, readText } from '../../shared/images/image-text.ts';
import { readImageValues } from '../../shared/images/image-values.ts';
import { refuseValue } from '../../shared/text/request-values.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../shared/values.ts';
import { longestText } from '../form.ts';
import type { ImageFile, OpenedImages } from '../types.ts';

const knownMembers: ReadonlySet<string> = new Set([
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'background',
  'output_format',
  'moderation',
  'image',
  'images',
  'mask',
]);

/** Members that ask for nothing, whatever the model, by the values with which they do. */
const idle: Readonly<Record<string, unknown>> = {
  stream: false,
  partial_images: 0,
  response_format: 'b64_json',
  layer_decomposition: false,
};

/** Reads a request that was checked (`readRequest`) for an upstream of another protocol. */
export function decodeImageRequest(openedImages: OpenedImages): ImageRequest {
  const { encoding, members, files, body } = openedImages;
  const isForm = encoding === 'multipart';
  const json = isForm ? members : parseWithLongTexts(body);
  const { size, ...values } = readImageValues(isForm ? members : json);
  const ofField = (field: ImageFile['field']): ImageSource[] =>
    files.filter((file) => file.field === field).map((file) => fileIn(body, file));
  const others = Object.entries(json)
    .filter(([name, value]) => !knownMembers.has(name) && !isAbsent(value) && value !== idle[name])
    .map(([name]) => name);
  return {
    prompt: (isForm ? promptOfForm(openedImages) : readText(json['prompt'], 'prompt')) ?? '',
    sources: isForm ? ofField('image') : readSources(json),
    mask: isForm ? (ofField('mask')[0] ?? null) : readReference(json['mask'], 'mask'),
    ...values,
    shape: size === null ? null : { kind: 'size', size },
    others,
  };
}

/** @throws GatewayError `invalid_value` above 1 MiB */
function promptOfForm({ members, body, promptRange, promptBytes }: OpenedImages): string | null {
  const { prompt } = members;
  if (promptBytes <= longestText) return typeof prompt === 'string' ? prompt : null;
  if (promptBytes > longestPrompt) refuseValue('prompt', 'is too long');
  return body.toString('utf8', promptRange.start, promptRange.end);
}

function fileIn(body: Buffer, { type, bytes: { start, end } }: ImageFile): ImageSource {
  return { kind: 'bytes', mime: `image/${type ?? 'png'}`, bytes: body.subarray(start, end) };
}

function readSources(json: JsonRecord): ImageSource[] {
  const param = isAbsent(json['images']) ? 'image' : 'images';
  const givenValue = json[param];
  const list: readonly unknown[] = Array.isArray(givenValue) ? givenValue : [givenValue];
  return list.flatMap((value, index) => readReference(value, `${param}[${index}]`) ?? []);
}

function readReference(value: unknown, param: string): ImageSource | null {
  if (isAbsent(value)) return null;
  if (!isRecord(value)) return readSource(value, param);
  const { image_url: imageUrl, url, file_id: id } = value;
  if (typeof id === 'string') return { kind: 'file-id', id };
  // A long text is an object too, and has none of these members.
  return readSource(imageUrl ?? url ?? value, param);
}
