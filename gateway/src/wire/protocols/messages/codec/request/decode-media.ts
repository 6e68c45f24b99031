import type { Block, FileBlock, MediaSource } from '#canonical/index.ts';
import { base64Prefix, readBase64 } from '../../../shared/images/data-url.ts';
import { isRecord, type JsonRecord, optionalText } from '../../../shared/values.ts';
import { decodeBase } from './extensions.ts';
import { type Place, requireName } from '../../wire.ts';
import { invalid, requireString } from '../../../shared/text/request-values.ts';

const imageMembers = new Set(['type', 'source', 'cache_control']);
const documentMembers = new Set(['type', 'source', 'cache_control', 'title']);

/** @throws GatewayError `invalid_value`. */
export function decodeImage(block: JsonRecord, { param }: Place): Block {
  const wire = requireSource(block, param);
  const source = decodeSource(wire, `${param}.source`);
  if (source === null) return unknownSource(block, 'image');
  return { type: 'image', source, ...decodeBase(block, imageMembers) };
}

/**
 * Decodes a document. No other protocol has documents of several parts, so such a document becomes its text, followed
 * by its images.
 * @throws GatewayError `invalid_value`.
 */
export function decodeDocument(block: JsonRecord, { param }: Place): Block | readonly Block[] {
  const wire = requireSource(block, param);
  const base = {
    ...decodeBase(block, documentMembers),
    filename: optionalText(block['title']) ?? undefined,
  };
  if (wire['type'] === 'content') return decodeParts(wire['content'], base, `${param}.source`);
  if (wire['type'] === 'text') {
    const text = requireString(wire['data'], `${param}.source.data`);
    return { type: 'file', source: textSource(text), ...base };
  }
  const source = decodeSource(wire, `${param}.source`, 'application/pdf');
  if (source === null) return unknownSource(block, 'document');
  return { type: 'file', source, ...base };
}

function requireSource(block: JsonRecord, param: string): JsonRecord {
  const { source } = block;
  if (isRecord(source)) return source;
  throw invalid(`${param}.source`, 'must be an object');
}

function unknownSource(block: JsonRecord, name: string): Block {
  return { type: 'opaque', protocol: 'messages', name, value: block, ifForeign: 'refuse' };
}

/** Null for an unknown kind of source. */
function decodeSource(
  source: JsonRecord,
  param: string,
  defaultMime: string | null = null,
): MediaSource | null {
  switch (source['type']) {
    case 'base64':
      return decodeBase64(
        requireName(source['data'], `${param}.data`),
        optionalText(source['media_type']) ?? defaultMime,
        { data: `${param}.data`, mime: `${param}.media_type` },
      );
    case 'url': {
      const at = `${param}.url`;
      const url = requireName(source['url'], at);
      if (/^data:/i.test(url)) return decodeBase64(url, null, { data: at, mime: at });
      if (/^https?:\/\//i.test(url) && URL.canParse(url)) {
        return { kind: 'url', url, mime: defaultMime };
      }
      throw invalid(at, 'must be an http(s) URL or a data URL');
    }
    case 'file':
      return {
        kind: 'file-id',
        protocol: 'messages',
        id: requireName(source['file_id'], `${param}.file_id`),
      };
    default:
      return null;
  }
}

/** Tolerates harmless mistakes: line breaks, and a data URL in place of its payload. */
function decodeBase64(
  data: string,
  mime: string | null,
  params: { readonly data: string; readonly mime: string },
): MediaSource {
  const read = readBase64(data);
  if (read === null) throw invalid(params.data, 'must be base64');
  const type = mime ?? base64Prefix(data)?.mime ?? '';
  if (type === '') throw invalid(params.mime, 'must name the media type');
  return { kind: 'data', mime: type, ...read };
}

function decodeParts(
  content: unknown,
  base: Omit<FileBlock, 'type' | 'source'>,
  param: string,
): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'file', source: textSource(content), ...base }];
  if (!Array.isArray(content)) throw invalid(`${param}.content`, 'must be a string or a list');
  const texts: string[] = [];
  const images: Block[] = [];
  for (const [index, part] of content.entries()) {
    const at = `${param}.content.${index}`;
    if (!isRecord(part)) throw invalid(at, 'must be an object');
    if (part['type'] === 'image') images.push(decodeImage(part, { param: at, role: 'user' }));
    else texts.push(requireString(part['text'], `${at}.text`));
  }
  if (texts.length === 0) return images;
  return [{ type: 'file', source: textSource(texts.join('\n\n')), ...base }, ...images];
}

function textSource(text: string): MediaSource {
  return { kind: 'data', mime: 'text/plain', base64: Buffer.from(text, 'utf8').toString('base64') };
}
