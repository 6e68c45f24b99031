import type { StreamEvent } from '#protocols/index.ts';

/**
 * How a streamed response is written for this client. Upstreams always send server-sent events; a generate-content
 * client that did not request them gets one JSON array, element by element, as from the vendor.
 */
export interface Framing {
  readonly headers: Readonly<Record<string, string>>;
  /** True when the upstream's bytes pass unchanged. */
  readonly verbatim: boolean;
  /** Writes complete events in this framing; null when nothing is left of them (comments). */
  frame(bytes: Buffer): Buffer | string | null;
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
  frame: (bytes: Buffer) => bytes,
  keepAlive: (frame: string) => frame,
  closing: () => '',
});

export function createFraming(kind: 'event-stream' | 'json-array'): Framing {
  return kind === 'event-stream' ? eventStream : createJsonArray();
}

function createJsonArray(): Framing {
  let begun = false;
  return {
    headers: { ...eventStreamHeaders, 'content-type': 'application/json; charset=utf-8' },
    verbatim: false,
    frame(bytes) {
      let framed = '';
      for (const data of dataOf(bytes)) {
        framed += (begun ? ',\r\n' : '[') + data;
        begun = true;
      }
      return framed === '' ? null : framed;
    },
    // White space between elements is legal JSON and keeps proxies awake.
    keepAlive: () => '\n',
    closing: () => (begun ? ']' : '[]'),
  };
}

/** The `data` fields of the events that have one. */
function dataOf(bytes: Buffer): string[] {
  const fields: string[] = [];
  let lines: string[] = [];
  for (const line of [...bytes.toString('utf8').split(/\r\n|\n|\r/), '']) {
    if (line.startsWith('data:')) lines.push(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || lines.length === 0) continue;
    const data = lines.join('\n');
    if (data !== '') fields.push(data);
    lines = [];
  }
  return fields;
}

export type { StreamEvent };
