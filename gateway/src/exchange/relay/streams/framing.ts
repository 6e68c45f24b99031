import type { StreamEvent } from '#protocols/index.ts';

/**
 * How a streamed response is written for this client. Upstreams always send server-sent events; a generate-content
 * client that did not request them gets one JSON array, element by element, as from the vendor.
 */
export interface Framing {
  readonly headers: Readonly<Record<string, string>>;
  /** True when the upstream's bytes pass unchanged. */
  readonly verbatim: boolean;
  /** Complete events in this framing, in pieces; none if nothing is left of them (comments). */
  frame(bytes: Buffer): readonly (Buffer | string)[];
  /** A keep-alive frame of the protocol, in this framing. */
  keepAlive(frame: string): string;
  /** The bytes that end the body. */
  readonly closing: () => string;
}

const eventStreamHeaders = Object.freeze({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
});

const eventStream: Framing = Object.freeze({
  headers: eventStreamHeaders,
  verbatim: true,
  frame: (bytes: Buffer) => [bytes],
  keepAlive: (frame: string) => frame,
  closing: () => '',
});

export function createFraming(kind: 'event-stream' | 'json-array'): Framing {
  return kind === 'event-stream' ? eventStream : createJsonArray();
}

function createJsonArray(): Framing {
  let isBegun = false;
  return {
    headers: { ...eventStreamHeaders, 'content-type': 'application/json; charset=utf-8' },
    verbatim: false,
    frame(bytes) {
      const framedPieces: (Buffer | string)[] = [];
      for (const lines of dataOf(bytes)) {
        framedPieces.push(isBegun ? ',\r\n' : '[');
        for (const [index, line] of lines.entries())
          framedPieces.push(...(index > 0 ? ['\n'] : []), line);
        isBegun = true;
      }
      return framedPieces;
    },
    // White space between elements is legal JSON and keeps proxies awake.
    keepAlive: () => '\n',
    closing: () => (isBegun ? ']' : '[]'),
  };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const field = Buffer.from('data:');

/** The lines of the `data` fields of the events that have one. They stay bytes, since an image may be megabytes. */
function dataOf(bytes: Buffer): Buffer[][] {
  const fields: Buffer[][] = [];
  let lines: Buffer[] = [];
  for (const line of [...linesOf(bytes), nothing]) {
    if (line.subarray(0, field.length).equals(field)) {
      lines.push(line.subarray(line[field.length] === space ? field.length + 1 : field.length));
    }
    if (line.length > 0 || lines.length === 0) continue;
    if (lines.some(({ length }) => length > 0)) fields.push(lines);
    lines = [];
  }
  return fields;
}

const nothing = Buffer.alloc(0);

/** Lines end in LF, CR LF or CR. */
function* linesOf(bytes: Buffer): Generator<Buffer> {
  const next = (end: number, from: number): number => {
    const foundAt = bytes.indexOf(end, from);
    return foundAt < 0 ? bytes.length : foundAt;
  };
  let feed = -1;
  let carriage = -1;
  for (let start = 0; start < bytes.length;) {
    if (feed < start) feed = next(lineFeed, start);
    if (carriage < start) carriage = next(carriageReturn, start);
    const end = Math.min(feed, carriage);
    yield bytes.subarray(start, end);
    start = end + (carriage + 1 === feed ? 2 : 1);
  }
}

export type { StreamEvent };
