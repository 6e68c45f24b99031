import type { ReportedUsage } from '#canonical/index.ts';
import type { StreamEvent } from '../../protocol.ts';

/** One entry of `data`. */
export interface ImageEntry {
  /** As the upstream reports it for this image. */
  readonly size: string | null;
  readonly zIndex: number | null;
  /** It is an error instead of an image. */
  readonly isFailed: boolean;
  /** The first bytes of an image that is in the response, decoded: they contain its size. */
  readonly imageStart: Buffer | null;
}

/** An event that is made of a whole response. Images are megabytes, so it is made piece by piece. */
export interface EventPieces {
  readonly name: string | null;
  /** The whole event. Its data is one line, and a blank line follows. */
  readonly pieces: Iterable<Buffer>;
  /** In bytes: what comes before the data. */
  readonly dataStart: number;
}

/** The event that the bytes of its pieces are. */
export function eventOf({ name, dataStart }: EventPieces, raw: Buffer): StreamEvent {
  return { raw, name, data: raw.subarray(dataStart, raw.length - blankLine) };
}

/** Its length, and that of the line end before it. */
const blankLine = 2;

/**
 * Watches a stream with images. Like a `StreamTap` of text, but what it writes is in pieces: its events are megabytes,
 * and most bytes stay where they are.
 */
export interface ImageStreamTap {
  /** @returns a sum of `verdict` bits */
  inspect(event: StreamEvent): number;
  /** Valid until the next `inspect`, if the verdict has `replace`. */
  readonly replacement: readonly Buffer[];
  /** The error of a `failed` verdict, in the shape of the protocol's HTTP error body. */
  readonly failure: unknown;
  /** Final images, and those of a set that failed. */
  readonly entries: readonly ImageEntry[];
  readonly inputImages: number | null;
  readonly usage: ReportedUsage | null;
  /** In bytes of events that it has not given out. */
  readonly heldBytes: number;
  /** If the body ended now, the response would be complete. */
  readonly finished: boolean;
  /** Nothing can follow. */
  readonly closed: boolean;
  /** What is missing at the end. */
  completion(): readonly Buffer[];
}
