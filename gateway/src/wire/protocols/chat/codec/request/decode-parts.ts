import type { Block, MediaSource } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { isDataUrl, parseDataUrl, readBase64 } from '../../../shared/images/data-url.ts';
import { thinkingText } from '../reasoning.ts';
import { leftovers, readCache } from './request-fields.ts';
import { invalid, readString, requireRecord } from '../../../shared/text/request-values.ts';
import { withExtensions } from '../../../shared/text/openai-members.ts';

type PartDecoder = (part: JsonRecord, param: string) => Block;

/**
 * Decodes one part of a request's content. An unknown part becomes `opaque`.
 * @throws GatewayError `invalid_value` for a broken part.
 */
export function decodePart(value: unknown, param: string): Block {
  const part = requireRecord(value, param);
  const type = readString(part['type'], `${param}.type`);
  if (type === null) throw invalid(`${param}.type`, 'is required');
  const decode = decoders.get(type);
  if (decode !== undefined) return decode(part, param);
  return { type: 'opaque', protocol: 'chat', name: type, value: part, ifForeign: 'drop' };
}

/**
 * The parts of content, which may also be a single string.
 * @throws GatewayError `invalid_value`
 */
export function decodeContent(content: unknown, param: string): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) throw invalid(param, 'must be a string or an array of parts');
  return content.map((part: unknown, index) => decodePart(part, `${param}.${index}`));
}

const decoders: ReadonlyMap<string, PartDecoder> = new Map<string, PartDecoder>([
  ['text', decodeText],
  ['image_url', decodeImage],
  ['input_audio', decodeAudio],
  ['file', decodeFile],
  ['video_url', decodeVideo],
  ['refusal', decodeRefusal],
  ['thinking', (part) => ({ type: 'reasoning', text: thinkingText(part['thinking']) })],
]);

function decodeText(part: JsonRecord, param: string): Block {
  const text = readString(part['text'], `${param}.text`);
  if (text === null) throw invalid(`${param}.text`, 'is required');
  return { type: 'text', text, ...rest(part, 'text') };
}

function decodeRefusal(part: JsonRecord, param: string): Block {
  const text = readString(part['refusal'], `${param}.refusal`);
  if (text === null) throw invalid(`${param}.refusal`, 'is required');
  return { type: 'refusal', text, ...rest(part, 'refusal') };
}

function decodeImage(part: JsonRecord, param: string): Block {
  const { url, detail, path } = readUrl(part, 'image_url', param);
  return {
    type: 'image',
    source: mediaAt(url, path),
    ...(typeof detail === 'string' ? { detail } : {}),
    ...rest(part, 'image_url', 'text'),
  };
}

function decodeVideo(part: JsonRecord, param: string): Block {
  const { url, path } = readUrl(part, 'video_url', param);
  return { type: 'video', source: mediaAt(url, path), ...rest(part, 'video_url') };
}

/** The URL in the part's object. Some clients write the URL alone. */
function readUrl(part: JsonRecord, key: string, param: string) {
  const value = part[key];
  const path = isRecord(value) ? `${param}.${key}.url` : `${param}.${key}`;
  const url = isRecord(value) ? value['url'] : value;
  if (typeof url !== 'string') throw invalid(path, 'must be a string');
  return { url, detail: isRecord(value) ? value['detail'] : undefined, path };
}

function decodeAudio(part: JsonRecord, param: string): Block {
  const path = `${param}.input_audio`;
  const audio = requireRecord(part['input_audio'], path);
  const data = readString(audio['data'], `${path}.data`) ?? '';
  const format = readString(audio['format'], `${path}.format`) ?? '';
  // The data is plain base64. A data URL in its place is a common slip with the same meaning.
  const read = readBase64(data);
  if (read === null) throw invalid(`${path}.data`, 'must be base64');
  const mime = format === 'mp3' ? 'audio/mpeg' : `audio/${format || 'wav'}`;
  return { type: 'audio', source: { kind: 'data', mime, ...read }, ...rest(part, 'input_audio') };
}

function decodeFile(part: JsonRecord, param: string): Block {
  const path = `${param}.file`;
  const file = requireRecord(part['file'], path);
  const filename = readString(file['filename'], `${path}.filename`);
  const id = readString(file['file_id'], `${path}.file_id`);
  const data = readString(file['file_data'], `${path}.file_data`);
  if (data === null && id === null) throw invalid(`${path}.file_data`, 'is required');
  const source: MediaSource =
    data === null
      ? { kind: 'file-id', protocol: 'chat', id: id ?? '' }
      : mediaAt(data, `${path}.file_data`);
  return {
    type: 'file',
    source,
    ...(filename === null ? {} : { filename }),
    ...rest(part, 'file'),
  };
}

/** @throws GatewayError `invalid_value` for anything but a data URL or a web address. */
function mediaAt(url: string, param: string): MediaSource {
  if (isDataUrl(url)) {
    const data = parseDataUrl(url);
    if (data === null) throw invalid(param, 'is not a valid data URL');
    return { kind: 'data', ...data };
  }
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return { kind: 'url', url, mime: null };
  throw invalid(param, 'must be an http(s) URL or a data URL');
}

function rest(part: JsonRecord, ...knownNames: readonly string[]) {
  const read = new Set(['type', 'prompt_cache_breakpoint', 'cache_control', ...knownNames]);
  return { ...readCache(part), ...withExtensions(leftovers(part, read)) };
}
