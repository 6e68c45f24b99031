import type { GenerationEvent } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';

export type Emit = (event: GenerationEvent) => void;

/** Decodes one kind of upstream event. */
export type Handler = (state: StreamState, event: JsonRecord, emit: Emit) => void;

/** An output item, and how much of it was sent. */
export interface OpenItem {
  readonly type: string;
  done: boolean;
  /** Characters that were sent, by part. A call has one part. */
  readonly sentLengths: number[];
  /** Annotations that were sent, by part. */
  readonly sentAnnotations: number[];
  /** Which of the two texts of a reasoning item is read: the first to come. */
  family: 'summary' | 'content' | null;
  /** The canonical number of an announced call. */
  call: number | null;
}

/** The state of one upstream stream. Keeps lengths, not texts. */
export class StreamState {
  readonly seenOutput = { any: false, call: false, refusal: false };
  readonly #items = new Map<number, OpenItem>();
  readonly #doneIds = new Set<string>();
  #calls = 0;
  /** The item and part of the open block. */
  #openItem: OpenItem | null = null;
  #openPart = 0;

  /** The item to which an event belongs. `type` is the only type of item that has such events. */
  itemOf(event: JsonRecord, type: string): OpenItem {
    const index = event['output_index'];
    return this.itemAt(typeof index === 'number' ? index : this.#items.size - 1, type);
  }

  itemAt(index: number, type: string): OpenItem {
    const knownItem = this.#items.get(index);
    if (knownItem !== undefined) return knownItem;
    const item = {
      type,
      done: false,
      sentLengths: [],
      sentAnnotations: [],
      family: null,
      call: null,
    };
    this.#items.set(index, item);
    return item;
  }

  noteId(item: JsonRecord): void {
    if (typeof item['id'] === 'string') this.#doneIds.add(item['id']);
  }

  isDone(index: number, item: JsonRecord): boolean {
    const id = item['id'];
    if (typeof id === 'string' && this.#doneIds.has(id)) return true;
    return this.#items.get(index)?.done === true;
  }

  openItems(): OpenItem[] {
    return [...this.#items.values()].filter((item) => !item.done);
  }

  nextCall(): number {
    this.seenOutput.any = true;
    this.seenOutput.call = true;
    const call = this.#calls;
    this.#calls += 1;
    return call;
  }

  /** Opens a block for this part, and completes the block that was open. */
  open(item: OpenItem, part: number, emit: Emit): void {
    if (this.#openItem === item && this.#openPart === part) return;
    this.closeBlock(emit);
    this.seenOutput.any = true;
    this.#openItem = item;
    this.#openPart = part;
  }

  isOpen(item: OpenItem, part: number): boolean {
    return this.#openItem === item && this.#openPart === part;
  }

  closeBlock(emit: Emit): void {
    if (this.#openItem === null) return;
    this.#openItem = null;
    emit({ type: 'block-end' });
  }
}

/**
 * The index under which the part at `position` of a finished item was streamed. Some servers count parts from 1.
 */
export function streamedIndex({ sentLengths }: OpenItem, position: number): number {
  const knownIndexes = Object.keys(sentLengths);
  return Number(knownIndexes[position] ?? sentLengths.length + position - knownIndexes.length);
}
