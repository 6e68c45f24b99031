import type { Block, ImageBlock } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { parseDataUrl, formatDataUrl } from '../../../shared/images/data-url.ts';
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

/**
 * Chat has one text and one reasoning text; a canonical response may have several blocks of each. This tracks where the
 * blocks lie in the two texts. Whole responses and streams share it, so that both give the same.
 *
 * Adjacent texts are one text that its maker cut (around citations). Texts with something between them are separate
 * paragraphs.
 */
export class ResponseText {
  contentLength = 0;
  /** Where the last text block begins in the content, in UTF-16 units. */
  textStart = 0;
  reasoningLength = 0;
  /** Where the last reasoning block begins in the reasoning text. */
  reasoningStart = 0;
  #last: 'text' | 'image' | 'reasoning' | 'other' = 'other';

  /** The separator between the content so far and a new text block. */
  openText(): string {
    const gap = this.#last === 'text' || this.contentLength === 0 ? '' : paragraph;
    this.contentLength += gap.length;
    this.textStart = this.contentLength;
    this.#last = 'text';
    return gap;
  }

  openReasoning(): string {
    const gap = this.reasoningLength === 0 ? '' : paragraph;
    this.reasoningLength += gap.length;
    this.reasoningStart = this.reasoningLength;
    this.#last = 'reasoning';
    return gap;
  }

  openImage(): string {
    const gap = this.contentLength === 0 ? '' : paragraph;
    this.contentLength += gap.length;
    this.#last = 'image';
    return gap;
  }

  /** Notes a block that is in neither text. */
  interrupt(): void {
    this.#last = 'other';
  }
}

const paragraph = '\n\n';

/** An image as Markdown, which is its form in this protocol. Null for one that only its provider can show. */
export function markdownImage({ source }: ImageBlock): string | null {
  if (source.kind === 'file-id') return null;
  const url = source.kind === 'url' ? source.url : formatDataUrl(source.mime, source.base64);
  return `![image](${url})`;
}

/** The words of another protocol's block; null if it has none. */
export function wordsOf(block: Block): string | null {
  return block.type === 'opaque' && block.text !== undefined && block.text !== ''
    ? block.text
    : null;
}

/** The id of a response derives from the exchange's, so that one exchange always gives the same. */
export function responseId(requestId: string): string {
  return `chatcmpl-${bareId(requestId)}`;
}

/** The id for a call that came without one. */
export function callId(requestId: string, choice: number, index: number): string {
  return `call_${bareId(requestId)}_${choice}_${index}`;
}

function bareId(requestId: string): string {
  return requestId.startsWith('req_') ? requestId.slice('req_'.length) : requestId;
}
