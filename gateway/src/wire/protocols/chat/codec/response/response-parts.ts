import type { Block } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { parseDataUrl } from '../../../shared/pictures/data-url.ts';
import { thinkingText } from '../reasoning.ts';

/**
 * The content of a response or of a delta: a text, parts (Mistral), or the requested object (Cloudflare). Nothing is
 * refused here: unknown content becomes `opaque`.
 */
export function readResponseContent(content: unknown): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (Array.isArray(content)) return content.flatMap((part: unknown) => readResponsePart(part));
  return isRecord(content) ? [{ type: 'text', text: JSON.stringify(content) }] : [];
}

function readResponsePart(part: unknown): Block[] {
  if (typeof part === 'string') return readResponseContent(part);
  if (!isRecord(part)) return [];
  const { type, text, refusal } = part;
  if (typeof text === 'string' && (type === 'text' || type === 'output_text')) {
    return text === '' ? [] : [{ type: 'text', text }];
  }
  if (type === 'thinking') {
    const thoughts = thinkingText(part['thinking']);
    return thoughts === '' ? [] : [{ type: 'reasoning', text: thoughts }];
  }
  if (type === 'refusal' && typeof refusal === 'string') return [{ type, text: refusal }];
  if (type === 'image_url') return readImages([part]);
  const name = typeof type === 'string' ? type : 'content';
  return [{ type: 'opaque', protocol: 'chat', name, value: part, ifForeign: 'drop' }];
}

/** Images that a model made. Routers put them beside the content. */
export function readImages(images: unknown): Block[] {
  if (!Array.isArray(images)) return [];
  return images.flatMap((image: unknown): Block[] => {
    const url = isRecord(image) && isRecord(image['image_url']) ? image['image_url']['url'] : null;
    if (typeof url !== 'string') return [];
    const data = parseDataUrl(url);
    const source =
      data === null
        ? ({ kind: 'url', url, mime: null } as const)
        : ({ kind: 'data', ...data } as const);
    return [{ type: 'image', source }];
  });
}

/** Some servers send an empty refusal or audio object. */
export function readRefusal({ refusal }: JsonRecord): string {
  return typeof refusal === 'string' ? refusal : '';
}

/** Speech and its transcript, which a stream sends in pieces. */
export function joinAudio(earlier: JsonRecord | null, later: JsonRecord): JsonRecord {
  const joined = { ...earlier, ...later };
  for (const name of ['data', 'transcript']) {
    const pieces = [earlier?.[name], later[name]].filter((piece) => typeof piece === 'string');
    if (pieces.length > 0) joined[name] = pieces.join('');
  }
  return joined;
}

/** The speech as a block; null if there is none. */
export function readAudio(audio: unknown): Block | null {
  if (!isRecord(audio) || typeof audio['data'] !== 'string' || audio['data'] === '') return null;
  const { transcript } = audio;
  return {
    type: 'opaque',
    protocol: 'chat',
    name: 'message.audio',
    value: audio,
    ifForeign: 'drop',
    ...(typeof transcript === 'string' && transcript !== '' && { text: transcript }),
  };
}
