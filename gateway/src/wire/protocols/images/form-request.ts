import { type Range, duplicateKey } from '#json/index.ts';
import { readModel, invalid } from '../shared/text/request-values.ts';
import { broken, parametersOf } from './part-headers.ts';
import { type FormPart, readForm } from './form.ts';
import { imageType } from './image-type.ts';
import { memberNames, type ImageFile, type OpenedImages } from './types.ts';

/** RFC 2046, section 5.1.1. */
const boundaryShape = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const imageField = /^image(?:\[\d{0,3}\])?$/;

/** Fields that the gateway reads. Other spellings of them are refused: an upstream might take them for the same. */
const fields: ReadonlySet<string> = new Set([
  ...memberNames,
  'sequential_image_generation_options',
]);

/** The fields that hold something other than text. */
const kinds: Readonly<Record<string, 'integer' | 'boolean'>> = {
  n: 'integer',
  output_compression: 'integer',
  partial_images: 'integer',
  stream: 'boolean',
  layer_decomposition: 'boolean',
};

/**
 * Reads the form of an edit once. Its files are only located.
 * @throws GatewayError `invalid_value`, `duplicate_key`, `model_required`
 */
export function openForm(body: Buffer, contentType: string): OpenedImages {
  return { ...openParts(readForm(body, boundaryOf(contentType)), contentType), body };
}

/** @throws GatewayError as `openForm` */
export function openParts(
  parts: readonly FormPart[],
  contentType: string,
): Omit<OpenedImages, 'body'> {
  const files: ImageFile[] = [];
  const members: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const ranges = new Map<string, Range>();
  for (const part of parts) {
    const { name, isFile, content } = part;
    const field = fileField(name);
    if (field !== null) {
      files.push({ field, name, isFile, type: imageType(part.start), bytes: content });
    } else {
      refuseSpelling(name);
      if (ranges.has(name)) throw duplicateKey(name);
      ranges.set(name, content);
      members[name] = readText(part);
    }
  }
  if (files.filter(({ field }) => field === 'mask').length > 1) throw duplicateKey('mask');
  const model = readModel(members['model']);
  const promptRange = ranges.get('prompt') ?? { start: 0, end: 0 };
  return {
    form: 'edit',
    encoding: 'multipart',
    contentType,
    model,
    modelRange: ranges.get('model')!,
    members,
    files,
    namedStates: undefined,
    promptRange,
    promptBytes: promptRange.end - promptRange.start,
  };
}

/** @throws GatewayError `invalid_value` if the content type of a form has none. */
export function boundaryOf(contentType: string): string {
  const boundary = parametersOf(contentType)?.parameters.get('boundary');
  if (boundary === undefined) throw broken('the content type has no boundary');
  if (!boundaryShape.test(boundary)) throw broken('the boundary of the form is not valid');
  return boundary;
}

function fileField(name: string): ImageFile['field'] | null {
  if (name === 'mask') return name;
  return imageField.test(name) ? 'image' : null;
}

/** The value of a field. Numbers are read from digits alone, so that no two readers take them for different ones. */
function readText({ name, isFile, isUtf8, start }: FormPart): unknown {
  if (isFile) throw invalid(name, 'must not be a file');
  if (!isUtf8) throw invalid(name, 'must be UTF-8');
  const text = start.toString('utf8');
  switch (kinds[name]) {
    case 'integer':
      return /^(?:0|[1-9]\d{0,3})$/.test(text) ? Number(text) : text;
    case 'boolean':
      if (text === 'true') return true;
      return text === 'false' ? false : text;
    default:
      return text;
  }
}

/** `Model`, `n[]` and the like. */
function refuseSpelling(name: string): void {
  if (fields.has(name)) return;
  const [base = ''] = name.toUpperCase().toLowerCase().split('[', 1);
  if (fields.has(base.trim())) throw duplicateKey(name);
}
