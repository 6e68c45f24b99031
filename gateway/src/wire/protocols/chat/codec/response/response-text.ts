import type { Block, ImageBlock } from '#canonical/index.ts';
import { formatDataUrl } from '../../../shared/pictures/data-url.ts';

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
