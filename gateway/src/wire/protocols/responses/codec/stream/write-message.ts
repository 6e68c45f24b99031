import type { Citation, TokenLogprob, NativeState } from '#canonical/index.ts';
import { encodeAnnotation, encodeLogprobs } from '../text-details.ts';
import { type FrameWriter, itemAdded, itemDone, type WrittenItem } from './frame-writer.ts';
import { messageItem, refusalPart, textPart, reasoningItem } from '../response/output-items.ts';

interface OpenPart {
  readonly type: 'text' | 'refusal';
  /** For the member names of its events. */
  readonly place: string;
  text: string;
  readonly citations: Citation[];
  readonly logprobs: TokenLogprob[];
  /** The block is complete. The part stays open, since citations may still come. */
  ended: boolean;
}

/** Writes a message: texts and refusals, one after another. */
export class WrittenMessage implements WrittenItem {
  readonly #frames: FrameWriter;
  readonly #index: number;
  readonly #id: string;
  readonly #parts: object[] = [];
  #openPart: OpenPart | null = null;

  constructor(frames: FrameWriter, index: number, id: string) {
    this.#frames = frames;
    this.#index = index;
    this.#id = id;
  }

  begin(): string {
    const item = `{"id":"${this.#id}","type":"message","status":"in_progress","role":"assistant","content":[]}`;
    return itemAdded(this.#frames, this.#index, item);
  }

  text(text: string, logprobs: readonly TokenLogprob[] | undefined): string {
    const { frames, part } = this.#partFor('text');
    part.text += text;
    let tokens = '[]';
    if (logprobs !== undefined) {
      part.logprobs.push(...logprobs);
      tokens = JSON.stringify(encodeLogprobs(logprobs));
    }
    const members = `${part.place},"delta":${JSON.stringify(text)},"logprobs":${tokens}`;
    return frames + this.#frames.write('response.output_text.delta', members);
  }

  refusal(text: string): string {
    const { frames, part } = this.#partFor('refusal');
    part.text += text;
    const members = `${part.place},"delta":${JSON.stringify(text)}`;
    return frames + this.#frames.write('response.refusal.delta', members);
  }

  /** Adds a citation to the latest text. A refusal cannot have citations. */
  cite(citation: Citation): string {
    const part = this.#openPart;
    if (part?.type !== 'text') return '';
    const annotation = JSON.stringify(encodeAnnotation(citation));
    const members = `${part.place},"annotation_index":${part.citations.length},"annotation":${annotation}`;
    part.citations.push(citation);
    return this.#frames.write('response.output_text.annotation.added', members);
  }

  get ended(): boolean {
    return this.#openPart?.ended !== false;
  }

  endBlock(): void {
    if (this.#openPart !== null) this.#openPart.ended = true;
  }

  close(status: 'completed' | 'incomplete'): { frames: string; item: string } {
    const frames = this.#closePart();
    const item = JSON.stringify(messageItem(this.#id, status, this.#parts));
    return { frames: frames + itemDone(this.#frames, this.#index, item), item };
  }

  #partFor(type: OpenPart['type']): { frames: string; part: OpenPart } {
    const openPart = this.#openPart;
    if (openPart !== null && openPart.type === type && !openPart.ended)
      return { frames: '', part: openPart };
    const before = this.#closePart();
    const place = `"item_id":"${this.#id}","output_index":${this.#index},"content_index":${this.#parts.length}`;
    const part = { type, place, text: '', citations: [], logprobs: [], ended: false };
    this.#openPart = part;
    const empty = type === 'text' ? textPart('', [], []) : refusalPart('');
    const members = `${place},"part":${JSON.stringify(empty)}`;
    return { frames: before + this.#frames.write('response.content_part.added', members), part };
  }

  #closePart(): string {
    const part = this.#openPart;
    if (part === null) return '';
    this.#openPart = null;
    const { type, place, text } = part;
    const json =
      type === 'text' ? textPart(text, part.citations, part.logprobs) : refusalPart(text);
    this.#parts.push(json);
    const doneFrame =
      type === 'text'
        ? this.#frames.write(
            'response.output_text.done',
            `${place},"text":${JSON.stringify(text)},"logprobs":${JSON.stringify(encodeLogprobs(part.logprobs))}`,
          )
        : this.#frames.write('response.refusal.done', `${place},"refusal":${JSON.stringify(text)}`);
    const members = `${place},"part":${JSON.stringify(json)}`;
    return doneFrame + this.#frames.write('response.content_part.done', members);
  }
}

/** Writes reasoning: a summary part if there is text, and the state to be returned. */
export class WrittenReasoning implements WrittenItem {
  /** From its events. A different value begins another block. */
  readonly summary: boolean | undefined;
  readonly #frames: FrameWriter;
  readonly #index: number;
  readonly #id: string;
  readonly #place: string;
  #text = '';
  #state: NativeState | undefined = undefined;

  constructor(frames: FrameWriter, index: number, id: string, summary: boolean | undefined) {
    this.#frames = frames;
    this.#index = index;
    this.#id = id;
    this.summary = summary;
    this.#place = `"item_id":"${id}","output_index":${index},"summary_index":0`;
  }

  begin(): string {
    const item = `{"id":"${this.#id}","type":"reasoning","summary":[]}`;
    return itemAdded(this.#frames, this.#index, item);
  }

  text(text: string): string {
    const members = `${this.#place},"part":{"type":"summary_text","text":""}`;
    const added =
      this.#text === '' ? this.#frames.write('response.reasoning_summary_part.added', members) : '';
    this.#text += text;
    const delta = `${this.#place},"delta":${JSON.stringify(text)}`;
    return added + this.#frames.write('response.reasoning_summary_text.delta', delta);
  }

  /** Sent with the finished item, since there is no event for it. */
  keep(state: NativeState): void {
    this.#state = state;
  }

  close(): { frames: string; item: string } {
    const frames = this.#closePart();
    const item = JSON.stringify(reasoningItem(this.#id, this.#text, this.#state));
    return { frames: frames + itemDone(this.#frames, this.#index, item), item };
  }

  #closePart(): string {
    if (this.#text === '') return '';
    const text = JSON.stringify(this.#text);
    return (
      this.#frames.write('response.reasoning_summary_text.done', `${this.#place},"text":${text}`) +
      this.#frames.write(
        'response.reasoning_summary_part.done',
        `${this.#place},"part":{"type":"summary_text","text":${text}}`,
      )
    );
  }
}
