import type { Block, Extension, MediaSource, OpaqueBlock, ImageBlock } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { decodeAnnotations } from '../text-details.ts';
import { isDataUrl, parseDataUrl, readBase64 } from '../../../shared/images/data-url.ts';
import { ownExtension } from './request-extensions.ts';
import { invalid, requireString } from '../../../shared/text/request-values.ts';
import { withExtensions } from '../../../shared/text/openai-members.ts';

/** The prefix in the names of opaque parts, which distinguishes them from items. */
export const contentPart = 'content_part';

type PartDecoder = (part: JsonRecord, param: string) => Block;

const decoders: Readonly<Record<string, PartDecoder>> = {
  input_text: decodeText,
  output_text: decodeText,
  // Some clients use chat's name.
  text: decodeText,
  refusal: (part, param) => ({
    type: 'refusal',
    text: requireString(part['refusal'], `${param}.refusal`),
  }),
  input_image: decodeImage,
  input_file: decodeFile,
};

/**
 * Decodes the content of a message or of a call's output: a text, or a list of parts. An empty text has no parts.
 * @throws GatewayError `invalid_value`.
 */
export function decodeContent(content: unknown, param: string): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(param, 'must be a string or an array of parts');
  return content.map((part, index) => decodePart(part, `${param}.${index}`));
}

function decodePart(part: unknown, param: string): Block {
  if (!isRecord(part)) throw invalid(param, 'must be an object');
  const type = requireString(part['type'], `${param}.type`);
  const decode = Object.hasOwn(decoders, type) ? decoders[type] : undefined;
  return decode === undefined ? opaquePart(type, part) : decode(part, param);
}

function opaquePart(type: string, part: JsonRecord): OpaqueBlock {
  // A user's content is never dropped silently.
  const ifForeign = type === 'input_audio' || type === 'input_video' ? 'refuse' : 'drop';
  const extensions = [ownExtension(contentPart, true, 'ignore')];
  return { type: 'opaque', protocol: 'responses', name: type, value: part, ifForeign, extensions };
}

function decodeText(part: JsonRecord, param: string): Block {
  const { citations = [] } = decodeAnnotations(part['annotations']);
  return {
    type: 'text',
    text: requireString(part['text'], `${param}.text`),
    ...(citations.length > 0 && { citations }),
    ...decodeCache(part),
  };
}

function decodeImage(part: JsonRecord, param: string): Block {
  const { detail, image_url: url, file_id: id } = part;
  const source: MediaSource | null =
    typeof id === 'string'
      ? { kind: 'file-id', protocol: 'responses', id }
      : decodeUrl(url, `${param}.image_url`);
  if (source === null) throw invalid(param, 'needs image_url or file_id');
  return {
    type: 'image',
    source,
    // `auto` is the default everywhere.
    ...(typeof detail === 'string' && detail !== 'auto' && { detail }),
    ...decodeCache(part),
  };
}

function decodeFile(part: JsonRecord, param: string): Block {
  const { filename, detail, file_id: id, file_data: data, file_url: url } = part;
  const source: MediaSource | null =
    typeof id === 'string'
      ? { kind: 'file-id', protocol: 'responses', id }
      : typeof data === 'string'
        ? decodeFileData(data, `${param}.file_data`)
        : decodeUrl(url, `${param}.file_url`);
  if (source === null) throw invalid(param, 'needs file_data, file_url or file_id');
  const extensions: Extension[] =
    typeof detail === 'string' && detail !== 'auto'
      ? [ownExtension('file.detail', detail, 'drop')]
      : [];
  return {
    type: 'file',
    source,
    ...(typeof filename === 'string' && { filename }),
    ...decodeCache(part),
    ...withExtensions(extensions),
  };
}

/** A data URL, or the bare base64 of a PDF. */
function decodeFileData(data: string, param: string): MediaSource {
  if (isDataUrl(data)) return decodeDataUrl(data, param);
  const read = readBase64(data);
  if (read === null) throw invalid(param, 'must be a data URL or base64');
  return { kind: 'data', mime: 'application/pdf', ...read };
}

function decodeUrl(url: unknown, param: string): MediaSource | null {
  if (typeof url !== 'string') return null;
  if (isDataUrl(url)) return decodeDataUrl(url, param);
  if (!/^https?:\/\//i.test(url)) throw invalid(param, 'must be an http(s) or data URL');
  return { kind: 'url', url, mime: null };
}

function decodeDataUrl(url: string, param: string): MediaSource {
  const parsed = parseDataUrl(url);
  if (parsed === null) throw invalid(param, 'is not a valid data URL');
  return { kind: 'data', ...parsed };
}

function decodeCache(part: JsonRecord): { cache?: { ttl: string | null } } {
  const breakpoint = part['prompt_cache_breakpoint'];
  if (!isRecord(breakpoint)) return {};
  return { cache: { ttl: typeof breakpoint['ttl'] === 'string' ? breakpoint['ttl'] : null } };
}

/** The image of an `image_generation_call`; null if it has none. */
export function decodeGeneratedImage({
  result,
  output_format: format,
}: JsonRecord): ImageBlock | null {
  if (typeof result !== 'string' || result === '') return null;
  if (/^https?:\/\//.test(result)) {
    return { type: 'image', source: { kind: 'url', url: result, mime: null } };
  }
  const mime = `image/${typeof format === 'string' ? format : 'png'}`;
  return { type: 'image', source: { kind: 'data', mime, base64: result } };
}
