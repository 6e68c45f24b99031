/** One event of a stream; without a name it is a data-only frame. */
export interface WireEvent {
  readonly event?: string;
  readonly data: string;
}

/** An event whose data repeats its name as `type`. */
export function namedEvent(type: string, members: object): WireEvent {
  return { event: type, data: JSON.stringify({ type, ...members }) };
}

export type Format = 'sse' | 'json-array' | 'raw';

export type ReplyBody =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array | string }
  | { readonly kind: 'stream'; readonly format: Format; readonly events: readonly WireEvent[] };

/** A response before delivery: what to send, not how. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

export function jsonReply(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: { kind: 'whole', bytes: JSON.stringify(body) },
  };
}

export function streamReply(
  events: readonly WireEvent[],
  headers: Readonly<Record<string, string>> = {},
  format: Format = 'sse',
): Reply {
  const type = format === 'json-array' ? 'application/json' : 'text/event-stream; charset=utf-8';
  return {
    status: 200,
    headers: { 'content-type': type, 'cache-control': 'no-cache', ...headers },
    body: { kind: 'stream', format, events },
  };
}

/** The text of each event as it goes on the wire. */
export function formatFrames(format: Format, events: readonly WireEvent[]): string[] {
  if (format === 'raw') return events.map((event) => event.data);
  if (format === 'sse') {
    return events.map(({ event, data }) =>
      event === undefined ? `data: ${data}\n\n` : `event: ${event}\ndata: ${data}\n\n`,
    );
  }
  return events.map(
    ({ data }, index) =>
      `${index === 0 ? '[' : ',\r\n'}${data}${index === events.length - 1 ? ']' : ''}`,
  );
}
