import type { NativeState } from '#canonical/index.ts';
import { type FrameWriter, itemAdded, itemDone, type WrittenItem } from './frame-writer.ts';
import { reasoningItem } from '../response/output-items.ts';

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
