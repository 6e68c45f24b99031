/** Writes events in this protocol's form, numbered from 0. */
export class FrameWriter {
  /** The number of the next event. */
  sequenceNumber = 0;

  /** `members`: JSON text of the event's own members, without braces. `type` needs no escaping. */
  write(type: string, members: string): string {
    const number = this.sequenceNumber;
    this.sequenceNumber = number + 1;
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${number},${members}}\n\n`;
  }
}

/** An output item that is being written. Every method gives complete frames. */
export interface WrittenItem {
  /** `item`: the finished item, JSON text. */
  close(status: 'completed' | 'incomplete'): { readonly frames: string; readonly item: string };
}

export function itemAdded(frames: FrameWriter, index: number, item: string): string {
  return frames.write('response.output_item.added', `"output_index":${index},"item":${item}`);
}

export function itemDone(frames: FrameWriter, index: number, item: string): string {
  return frames.write('response.output_item.done', `"output_index":${index},"item":${item}`);
}
