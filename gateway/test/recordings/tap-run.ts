import { textProtocols, verdict } from '#protocols/index.ts';
import type { StreamContext, StreamEvent, StreamTap } from '#protocols/index.ts';
import type { TextProtocolName } from '#canonical/index.ts';
import { EventStreamReader } from '#upstream/event-stream.ts';

export interface TapRun {
  readonly tap: StreamTap;
  readonly events: readonly StreamEvent[];
  readonly verdicts: readonly number[];
  /** What a client would have been sent. */
  readonly forwarded: Buffer;
}

export const sameNames: StreamContext = {
  clientModel: 'm',
  upstreamModel: 'm',
  usageInjected: false,
};

/** Every event of a body that comes in these pieces, as soon as its last one is there. */
export function eachEvent(
  chunks: readonly Buffer[],
  onEvent: (event: StreamEvent) => unknown,
): void {
  const reader = new EventStreamReader({ maxEventBytes: 64 * 1024 * 1024, onEvent });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
}

/** The events of a body that comes in these pieces. */
export function readEvents(chunks: readonly Buffer[]): StreamEvent[] {
  const events: StreamEvent[] = [];
  eachEvent(chunks, (event) => events.push(event));
  return events;
}

/** Cuts bytes at any places, inside characters and line ends too. */
export function sliced(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [...places, bytes.length].map((end, index) =>
    // Copies, as from a socket whose buffer is used again.
    Buffer.from(bytes.subarray(places[index - 1] ?? 0, end)),
  );
}

export const bytewise = (bytes: Buffer) => [...bytes].map((byte) => Buffer.from([byte]));

/** Sends a recorded stream through reader and tap as the relay would. */
export function runTap(
  protocol: TextProtocolName,
  text: string,
  context: StreamContext = sameNames,
): TapRun {
  const tap = textProtocols[protocol].createStreamTap(context);
  const events = readEvents([Buffer.from(text)]);
  const forwarded: Buffer[] = [];
  const verdicts = events.map((event) => {
    const result = tap.inspect(event);
    if (result & verdict.replace && tap.replacement !== null) forwarded.push(tap.replacement);
    else if ((result & (verdict.drop | verdict.failed)) === 0) forwarded.push(event.raw);
    return result;
  });
  return { tap, events, verdicts, forwarded: Buffer.concat(forwarded) };
}

/** The parsed data of every event that has any; texts that are not JSON stay texts. */
export function payloads(events: readonly StreamEvent[]): unknown[] {
  return events.flatMap(({ data }) => {
    if (data === null) return [];
    const text = data.toString('utf8');
    try {
      return [JSON.parse(text) as unknown];
    } catch {
      return [text];
    }
  });
}
