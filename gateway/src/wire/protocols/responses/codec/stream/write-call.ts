import type { ResponseIds } from '../response/describe-response.ts';
import { type FrameWriter, itemAdded, itemDone, type WrittenItem } from './frame-writer.ts';
import {
  type CallHead,
  callItem,
  completeArguments,
  describeCall,
  ownItem,
} from '../response/output-items.ts';

/** Writes a call of one of the client's tools. */
export class WrittenCall implements WrittenItem {
  readonly #frames: FrameWriter;
  readonly #index: number;
  readonly #call: CallHead;
  readonly #head: { readonly id: string };
  readonly #place: string;
  #text = '';

  constructor(frames: FrameWriter, index: number, call: CallHead, ids: ResponseIds) {
    this.#frames = frames;
    this.#index = index;
    this.#call = call;
    this.#head = describeCall(call, ids, index);
    this.#place = `"item_id":"${this.#head.id}","output_index":${index}`;
  }

  begin(): string {
    const item = { ...callItem(this.#head, this.#call.kind, ''), status: 'in_progress' };
    return itemAdded(this.#frames, this.#index, JSON.stringify(item));
  }

  arguments(text: string): string {
    this.#text += text;
    const type =
      this.#call.kind === 'custom'
        ? 'response.custom_tool_call_input.delta'
        : 'response.function_call_arguments.delta';
    return this.#frames.write(type, `${this.#place},"delta":${JSON.stringify(text)}`);
  }

  close(): { frames: string; item: string } {
    const { kind, name } = this.#call;
    const missing = completeArguments(kind, this.#text) === this.#text ? '' : this.arguments('{}');
    const text = JSON.stringify(this.#text);
    const doneFrame =
      kind === 'custom'
        ? this.#frames.write(
            'response.custom_tool_call_input.done',
            `${this.#place},"input":${text}`,
          )
        : this.#frames.write(
            'response.function_call_arguments.done',
            `${this.#place},"name":${JSON.stringify(name)},"arguments":${text}`,
          );
    const item = JSON.stringify(callItem(this.#head, kind, this.#text));
    return { frames: missing + doneFrame + itemDone(this.#frames, this.#index, item), item };
  }
}

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
