import {
  Unconvertible,
  type Loss,
  type ImageRequest,
  type ImageShape,
  type ImageSource,
} from '#canonical/index.ts';
import { LongText, writeJson } from '#json/index.ts';
import { formatOf } from '../../shared/images/image-text.ts';

/** What the upstream and the model can do. */
export interface ImageTarget {
  readonly model: string;
  /** Of the model, by the catalogue's names. */
  readonly capabilities: ReadonlySet<string>;
  /** The upstream gives addresses of images unless it is asked for their bytes. */
  readonly asksForBytes: boolean;
  /** A text that no image contains, because nobody knew it: it separates the fields of a form. */
  readonly boundary: string;
}

export interface EncodedImages {
  readonly form: 'generation' | 'edit';
  readonly body: Buffer;
  readonly contentType: string;
  readonly losses: readonly Loss[];
}

/**
 * A request for images to an images upstream: an edit as a form, if the model edits; otherwise a generation, with its
 * sources as references. Images must be bytes for a form, in Base64 or addresses for references.
 * @throws Unconvertible for a file that only its vendor has
 */
export function encodeImageRequest(
  request: ImageRequest,
  { model, capabilities, asksForBytes, boundary }: ImageTarget,
): EncodedImages {
  const { prompt, sources, count } = request;
  const { size, isExact } = sizeOf(request.shape, capabilities.has('multi_reference'));
  const fields = {
    model,
    prompt,
    ...(count !== null && { n: count }),
    ...(size !== null && { size }),
    ...present('quality', request.quality),
    ...present('background', request.background),
    ...present('output_format', request.format),
    ...present('moderation', request.moderation),
    ...(asksForBytes && { response_format: 'b64_json' }),
  };
  const losses: Loss[] = request.others.map((what) => ({ what, how: 'dropped' }));
  if (!isExact) losses.push({ what: 'size', how: 'approximated' });
  if (sources.length > 0 && capabilities.has('edits')) {
    return { form: 'edit', ...encodeForm(fields, request, boundary), losses };
  }
  const references = sources.map((source) => new LongText(...reference(source)));
  const image = references.length > 1 ? references : references[0];
  const body = writeJson({ ...fields, image });
  return { form: 'generation', body, contentType: 'application/json', losses };
}

function present(name: string, value: string | null): Record<string, string> {
  return value === null ? {} : { [name]: value };
}

function reference(source: ImageSource): (string | Buffer)[] {
  switch (source.kind) {
    case 'url':
      return [source.url];
    case 'base64':
      return [`data:${source.mime ?? 'image/png'};base64,`, source.base64];
    case 'bytes':
      throw new TypeError('a reference must be in Base64');
    case 'file-id':
      throw fileId();
  }
}

function encodeForm(
  fields: Readonly<Record<string, string | number>>,
  { sources, mask }: Pick<ImageRequest, 'sources' | 'mask'>,
  boundary: string,
): { body: Buffer; contentType: string } {
  const chunks: Buffer[] = [];
  const part = (disposition: string, type: string, content: Buffer): void => {
    const head = `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n${type}\r\n`;
    chunks.push(Buffer.from(head), content, lineEnd);
  };
  for (const [name, value] of Object.entries(fields)) {
    part(`name="${name}"`, '', Buffer.from(String(value)));
  }
  const file = (name: string, filename: string, source: ImageSource): void => {
    const { mime, bytes } = fileOf(source);
    const disposition = `name="${name}"; filename="${filename}.${formatOf(mime)}"`;
    part(disposition, `content-type: ${mime}\r\n`, bytes);
  };
  const name = sources.length > 1 ? 'image[]' : 'image';
  for (const [index, source] of sources.entries()) file(name, `image-${index + 1}`, source);
  if (mask !== null) file('mask', 'mask', mask);
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    body: Buffer.concat(chunks),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

const lineEnd = Buffer.from('\r\n');

function fileOf(source: ImageSource): { readonly mime: string; readonly bytes: Buffer } {
  if (source.kind === 'file-id') throw fileId();
  if (source.kind !== 'bytes') throw new TypeError('a file of a form must be bytes');
  return source;
}

function fileId(): Unconvertible {
  return new Unconvertible('file_id', 'please send the picture instead of the id of a file');
}

interface Size {
  readonly size: string | null;
  readonly isExact: boolean;
}

/** The shapes of generate-content become a class (`1K`) for models that draw from references, for others one of three sizes in pixels. */
function sizeOf(shape: ImageShape | null, hasClasses: boolean): Size {
  if (shape === null) return { size: null, isExact: true };
  if (shape.kind === 'size') return { size: shape.size, isExact: true };
  const [width, height] = (shape.ratio ?? '1:1').split(':').map(Number);
  const ratio = Number(width) / Number(height);
  if (hasClasses) return { size: shape.resolution ?? '1K', isExact: shape.ratio === null };
  // A ratio that cannot be read is NaN, which is neither wide nor high.
  const size = ratio > 1 ? '1536x1024' : ratio < 1 ? '1024x1536' : '1024x1024';
  const [w = 1, h = 1] = size.split('x').map(Number);
  return { size, isExact: ratio === w / h && (shape.resolution ?? '1K') === '1K' };
}
