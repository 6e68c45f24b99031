import type { Block, Citation, GenerationEvent, NativeState } from '#canonical/index.ts';
import type { ResponseIds } from '../response/describe-response.ts';
import type { FrameWriter, WrittenItem } from './frame-writer.ts';
import { type CallHead, carriedState } from '../response/output-items.ts';
import { WrittenCall, WrittenClientCall } from './write-call.ts';
import { WrittenMessage, WrittenReasoning } from './write-message.ts';
import { eventsOf, writeWhole } from './write-whole.ts';

interface Call {
  readonly head: CallHead;
  /** An event that came while another item was open. */
  heldText: string;
  ended: boolean;
  item: WrittenCall | WrittenClientCall | null;
}

/**
 * Writes output items strictly one after another, in whatever order their events come. While a call is open, its own
 * arguments go out at once; everything else waits for its end, in order of arrival.
 */
export class OutputWriter {
  /** Finished items, JSON text. */
  readonly items: string[] = [];
  readonly #frames: FrameWriter;
  readonly #ids: ResponseIds;
  readonly #calls = new Map<number, Call>();
  #openItem: WrittenItem | null = null;
  #openCall: Call | null = null;
  /** Events that wait for the end of the open call, in order of arrival. */
  #queue: (Call | GenerationEvent)[] = [];
  /** Index of the next event in the queue. */
  #next = 0;

  constructor(frames: FrameWriter, ids: ResponseIds) {
    this.#frames = frames;
    this.#ids = ids;
  }

  push(event: GenerationEvent): string {
    switch (event.type) {
      case 'call-arguments':
      case 'call-end': {
        const call = this.#calls.get(event.call);
        if (call === undefined) return '';
        return event.type === 'call-end'
          ? this.#endCall(call)
          : this.#addArguments(call, event.text);
      }
      case 'call-start':
        return this.#startCall(event);
      default:
        return this.#openCall === null ? this.#write(event) : this.#wait(event);
    }
  }

  /** Completes everything that is open or waiting. */
  end(status: 'completed' | 'incomplete'): string {
    let frames = '';
    while (this.#openCall !== null) frames += this.#endCall(this.#openCall);
    return frames + this.#close(status);
  }

  #wait(what: Call | GenerationEvent): string {
    this.#queue.push(what);
    return '';
  }

  #startCall(event: CallHead & { readonly call: number }): string {
    const { id, name, namespace, kind, item } = event;
    const call: Call = {
      head: { id, name, namespace, kind, item },
      heldText: '',
      ended: false,
      item: null,
    };
    this.#calls.set(event.call, call);
    return this.#openCall === null ? this.#openNext(call) : this.#wait(call);
  }

  #addArguments(call: Call, text: string): string {
    if (call.ended || text === '') return '';
    if (call.item !== null) return call.item.arguments(text);
    call.heldText += text;
    return '';
  }

  #endCall(call: Call): string {
    call.ended = true;
    return this.#advance();
  }

  /** Closes the open call if it has ended, and writes the queue up to a call that has not. */
  #advance(): string {
    let frames = '';
    while (this.#openCall?.ended !== false) {
      if (this.#openCall !== null) {
        this.#openCall = null;
        frames += this.#close('completed');
      }
      const next = this.#queue[this.#next];
      if (next === undefined) {
        this.#queue = [];
        this.#next = 0;
        break;
      }
      this.#next += 1;
      frames += 'head' in next ? this.#openNext(next) : this.#write(next);
    }
    return frames;
  }

  #openNext(call: Call): string {
    const item = this.#itemOf(call.head);
    const frames = this.#open(item) + (call.heldText === '' ? '' : item.arguments(call.heldText));
    call.item = item;
    call.heldText = '';
    this.#openCall = call;
    return frames;
  }

  #itemOf(head: CallHead): WrittenCall | WrittenClientCall {
    const Item = head.item === undefined ? WrittenCall : WrittenClientCall;
    return new Item(this.#frames, this.#nextIndex(), head, this.#ids);
  }

  #write(event: GenerationEvent): string {
    switch (event.type) {
      case 'text':
        return event.text === ''
          ? ''
          : this.#inMessage((item) => item.text(event.text, event.logprobs));
      case 'refusal':
        return event.text === '' ? '' : this.#inMessage((item) => item.refusal(event.text));
      case 'reasoning':
        return event.text === '' ? '' : this.#writeReasoning(event.text, event.summary);
      case 'state':
        return this.#keepState(event.state);
      case 'citation':
        return this.#cite(event.citation);
      case 'block-end':
        return this.#endBlock();
      case 'block':
        return this.#writeBlock(event.block);
      default:
        return '';
    }
  }

  #inMessage(write: (item: WrittenMessage) => string): string {
    const open = this.#openItem;
    if (open instanceof WrittenMessage) return write(open);
    const index = this.#nextIndex();
    const item = new WrittenMessage(this.#frames, index, this.#ids.item('msg', index));
    const frames = this.#open(item);
    return frames + write(item);
  }

  #writeReasoning(text: string, summary: boolean | undefined): string {
    const open = this.#openItem;
    if (open instanceof WrittenReasoning && open.summary === summary) return open.text(text);
    const { frames, item } = this.#openReasoning(summary);
    return frames + item.text(text);
  }

  #openReasoning(summary: boolean | undefined): { frames: string; item: WrittenReasoning } {
    const index = this.#nextIndex();
    const item = new WrittenReasoning(this.#frames, index, this.#ids.item('rs', index), summary);
    return { frames: this.#open(item), item };
  }

  /** Only reasoning carries state in this protocol. State of an open text has no place. */
  #keepState(native: NativeState): string {
    const state = carriedState(native);
    const open = this.#openItem;
    if (state === undefined || (open instanceof WrittenMessage && !open.ended)) return '';
    if (open instanceof WrittenReasoning) {
      open.keep(state);
      return '';
    }
    const { frames, item } = this.#openReasoning(undefined);
    item.keep(state);
    return frames;
  }

  #cite(citation: Citation | null): string {
    if (citation === null || !(this.#openItem instanceof WrittenMessage)) return '';
    return this.#openItem.cite(citation);
  }

  /** A message stays open for the next part. Reasoning is a separate item. */
  #endBlock(): string {
    if (!(this.#openItem instanceof WrittenMessage)) return this.#close('completed');
    this.#openItem.endBlock();
    return '';
  }

  #writeBlock(block: Block): string {
    const index = this.#nextIndex();
    const whole = writeWhole(this.#frames, index, block, this.#ids);
    if (whole === null)
      return eventsOf(block)
        .map((event) => this.#write(event))
        .join('');
    const frames = this.#close('completed') + whole.frames();
    this.items.push(whole.item);
    return frames;
  }

  #open(item: WrittenItem & { begin(): string }): string {
    const frames = this.#close('completed');
    this.#openItem = item;
    return frames + item.begin();
  }

  #close(status: 'completed' | 'incomplete'): string {
    const item = this.#openItem;
    if (item === null) return '';
    this.#openItem = null;
    const closed = item.close(status);
    this.items.push(closed.item);
    return closed.frames;
  }

  /** The index of the item after the open one. */
  #nextIndex(): number {
    return this.#openItem === null ? this.items.length : this.items.length + 1;
  }
}
