import type { Block, ImageBlock } from '#canonical/index.ts';
import { formatDataUrl } from '../../../data-url.ts';

/**
 * Chat has one text and one reasoning text where an answer may have several blocks of each. This keeps where in
 * them the blocks lie, for a whole answer and for a stream alike, so that both give the same.
 *
 * Texts that follow each other directly are one text that its maker cut (around citations); what something else
 * stands between is a paragraph of its own.
 */
export class AnswerText {
  contentLength = 0;
  /** Where the last text block begins in the content, in UTF-16 units. */
  textStart = 0;
  reasoningLength = 0;
  /** Where the last reasoning block begins in the reasoning text. */
  reasoningStart = 0;
  #last: 'text' | 'image' | 'reasoning' | 'other' = 'other';

  /** What goes between the content so far and a new text block. */
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

  /** Something that is in neither text stands between. */
  interrupt(): void {
    this.#last = 'other';
  }
}

const paragraph = '\n\n';

/** Pictures are Markdown images on this protocol. Null for one that only its provider can show. */
export function markdownImage({ source }: ImageBlock): string | null {
  if (source.kind === 'file-id') return null;
  const url = source.kind === 'url' ? source.url : formatDataUrl(source.mime, source.base64);
  return `![image](${url})`;
}

/** What a block of another protocol says in words; null when there are none. */
export function wordsOf(block: Block): string | null {
  return block.type === 'opaque' && block.text !== undefined && block.text !== ''
    ? block.text
    : null;
}

/** The id of an answer is made from the exchange's, so that the same exchange gives the same. */
export function answerId(requestId: string): string {
  return `chatcmpl-${bareId(requestId)}`;
}

/** For a call that came without an id. */
export function callId(requestId: string, choice: number, index: number): string {
  return `call_${bareId(requestId)}_${choice}_${index}`;
}

function bareId(requestId: string): string {
  return requestId.startsWith('req_') ? requestId.slice('req_'.length) : requestId;
}
