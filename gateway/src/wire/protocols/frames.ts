import { type Edit, splice } from '#json/index.ts';
import type { StreamEvent } from './protocol.ts';

/** One server-sent event. `data` must be a single line, as JSON text is. */
export function frame(name: string | null, data: string): string {
  return name === null ? `data: ${data}\n\n` : `event: ${name}\ndata: ${data}\n\n`;
}

/** A comment, which every event-stream parser skips. */
export const commentKeepAlive = ': keep-alive\n\n';

/** The event with edits of its data. Its other bytes stay as received, where possible. */
export function withEdits(event: StreamEvent, data: Buffer, edits: readonly Edit[]): Buffer {
  const { raw } = event;
  const offset = data.byteOffset - raw.byteOffset;
  const isView = data.buffer === raw.buffer && offset >= 0 && offset + data.length <= raw.length;
  if (isView) {
    return splice(
      raw,
      edits.map(({ start, end, bytes }) => ({ start: offset + start, end: offset + end, bytes })),
    );
  }
  // With several data lines, or data that was rewritten, the frame is built anew.
  const lines = splice(data, edits)
    .toString('utf8')
    .split(/\r\n|\n|\r/);
  const name = event.name === null ? '' : `event: ${event.name}\n`;
  return Buffer.from(`${name}${lines.map((line) => `data: ${line}\n`).join('')}\n`);
}
