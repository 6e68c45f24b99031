import { waitingItem } from '../../picture-tool.ts';
import { type FrameWriter, itemAdded, itemDone, type WrittenItem } from './frame-writer.ts';

/** Writes a picture that the gateway draws when the rest of the response is complete. */
export class WrittenPicture implements WrittenItem {
  readonly id: string;
  readonly #frames: FrameWriter;
  readonly #index: number;
  readonly #place: string;

  constructor(frames: FrameWriter, index: number, id: string) {
    this.id = id;
    this.#frames = frames;
    this.#index = index;
    this.#place = `"item_id":${JSON.stringify(id)},"output_index":${index}`;
  }

  begin(): string {
    const item = {
      id: this.id,
      type: 'image_generation_call',
      status: 'in_progress',
      result: null,
    };
    return (
      itemAdded(this.#frames, this.#index, JSON.stringify(item)) +
      this.#frames.write('response.image_generation_call.in_progress', this.#place) +
      this.#frames.write('response.image_generation_call.generating', this.#place)
    );
  }

  /** The arguments are the model's, and nothing that a client sees. */
  arguments(): string {
    return '';
  }

  /** The next item may begin. */
  close(): { frames: string; item: string } {
    return { frames: '', item: JSON.stringify(waitingItem(this.id)) };
  }

  /** The last events of the item, when the rest of the response has been written. */
  finish(isDrawn: boolean): string {
    const completed = isDrawn
      ? this.#frames.write('response.image_generation_call.completed', this.#place)
      : '';
    return completed + itemDone(this.#frames, this.#index, this.close().item);
  }
}
