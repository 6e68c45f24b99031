import type { ResponseIds } from '../response/describe-response.ts';
import { type CallHead, ownItem } from '../response/output-items.ts';
import { type FrameWriter, itemAdded, itemDone, type WrittenItem } from './frame-writer.ts';
import { WrittenCall } from './write-call.ts';

/** Writes a call of a tool that the client runs under a type of its own: in one piece, since half of it says nothing. */
export class WrittenClientCall implements WrittenItem {
  readonly #frames: FrameWriter;
  readonly #index: number;
  readonly #call: CallHead;
  readonly #ids: ResponseIds;
  #text = '';

  constructor(frames: FrameWriter, index: number, call: CallHead, ids: ResponseIds) {
    this.#frames = frames;
    this.#index = index;
    this.#call = call;
    this.#ids = ids;
  }

  begin(): string {
    return '';
  }

  arguments(text: string): string {
    this.#text += text;
    return '';
  }

  close(): { frames: string; item: string } {
    const own = ownItem(this.#call, this.#text, this.#ids, this.#index);
    if (own === null) return this.#closeAsFunction();
    const item = JSON.stringify(own);
    const begun = JSON.stringify({ ...own, status: 'in_progress' });
    return {
      frames:
        itemAdded(this.#frames, this.#index, begun) + itemDone(this.#frames, this.#index, item),
      item,
    };
  }

  /** What cannot be read as such a call is shown as the function call that the model made. */
  #closeAsFunction(): { frames: string; item: string } {
    const call = new WrittenCall(this.#frames, this.#index, this.#call, this.#ids);
    const begun = call.begin() + (this.#text === '' ? '' : call.arguments(this.#text));
    const { frames, item } = call.close();
    return { frames: begun + frames, item };
  }
}
