import type { ReportedUsage, TextProtocolName } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { Budget, JsonScan, ParseRoom } from '#json/index.ts';
import type { QuirksOfRequest } from '#vendors/index.ts';
import type { InputExtent } from './input-extent.ts';
import type { NamedState, StateName } from './named-state.ts';
import type { JsonRecord } from './values.ts';

/**
 * One wire format, as the relay sees it. Pure: no I/O, no clock. A protocol never imports another one.
 * What is here serves the same-protocol path, where untouched bytes stay untouched.
 */
export interface Protocol {
  readonly name: TextProtocolName;

  /**
   * Scans and parses a request body once, as far as the model's name: whether the caller may use the model is
   * asked before anything else about the body.
   * @param room bounds the memory for what the body becomes; absent: nothing does
   * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`, `model_required`, and what `room` throws.
   */
  openRequest(body: Buffer, path: RequestPath, room?: ParseRoom): OpenedRequest;

  /**
   * Reads the rest of what the gateway must know and checks what it insists on.
   * @throws GatewayError `missing_parameter`, `invalid_value`.
   */
  readRequest(opened: OpenedRequest): WireRequest;

  /**
   * The body for one upstream: the declared patches as byte splices, everything else as the client sent it.
   * @throws GatewayError `invalid_value` for what no upstream of this protocol takes and nobody can mend, `too_complex`.
   */
  patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest;

  /**
   * Reads a complete non-streamed answer. The client's own names echoed back where they were mapped, nothing else
   * changed.
   * @throws UnreadableAnswer when it is not this protocol's answer object.
   */
  readResponse(body: Buffer, echo: AnswerEcho): WireResponse;

  /** The frames of a complete stream that say what this whole answer says. Members nobody knows are kept. */
  toEvents(answer: JsonRecord): string;

  /** The whole answer that the events of a complete stream add up to. */
  toWhole(events: readonly JsonRecord[]): JsonRecord;

  /** One per attempt of a streamed exchange. */
  createStreamTap(context: StreamContext): StreamTap;

  /** The whole error body, JSON text. `requestId` is ours. */
  encodeError(error: GatewayError, requestId: string): string;

  /** One or more complete event-stream frames that end a broken stream in this protocol. */
  encodeStreamError(error: GatewayError, requestId: string, tap: StreamTap | null): string;

  /** A complete frame that keeps a silent connection alive. `begun`: an event has already been written. */
  keepAlive(begun: boolean): string;
}

/** What the URL says, for protocols that put it there (generate-content); nulls elsewhere. */
export interface RequestPath {
  readonly operation: 'generate' | 'count-tokens';
  readonly model: string | null;
  readonly stream: boolean | null;
}

/** A request body: its bytes, where the members we read lie in them, and their values. */
export interface OpenedRequest {
  readonly path: RequestPath;
  readonly body: Buffer;
  readonly scan: JsonScan;
  /** The parsed body. Read only. */
  readonly json: Readonly<Record<string, unknown>>;
  /** What is left for what is made of it. Whoever draws from it takes a copy: another channel may be tried. */
  readonly budget: Readonly<Budget>;
  /** As the client wrote it, from the body or the path. */
  readonly model: string;
}

/** A request that was checked. */
export interface WireRequest extends OpenedRequest {
  readonly stream: boolean;
  /** The output bound the client asked for; null when it named none. */
  readonly maxOutputTokens: number | null;
  /** How many answers it asked for (`n`, `candidateCount`); at least 1. */
  readonly choices: number;
  /** The upstream works on when its client leaves (`background`). */
  readonly continuesAfterDisconnect?: boolean;
  /** What of the input the bytes of the body do not tell. */
  readonly extent: InputExtent;
  /** What it names of all that upstreams keep, each once. Absent: nothing. */
  readonly named?: readonly NamedState[] | undefined;
  /** The upstream keeps the answer, so that later requests can name it and its items. */
  readonly isKept?: boolean;
  /** What it asks for that may change its price, such as `service_tier.priority`; mostly empty. */
  readonly terms: readonly string[];
  /** Betas that the body names, where some hosts have them. Absent: none. */
  readonly betas?: readonly string[];
  /** The most searches of the upstream's own that it allows; null: no limit. Absent: it allows none. */
  readonly webSearches?: number | null;
}

export interface PatchTarget {
  readonly upstreamModel: string;
  /** The catalogue's output limit of the model; null when unknown. */
  readonly maxOutputTokens: number | null;
  /** The client's, by lower-case name: versions and betas decide what an upstream accepts. Absent: none are known. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What the upstream refuses of this protocol. Absent: nothing. */
  readonly quirks?: QuirksOfRequest;
}

export interface PatchedRequest {
  readonly body: Buffer;
  /** Ids of declared rewrites, for the usage row and `x-sluice-rewrites` (`b1`, `b2`, `p1`). */
  readonly rewrites: readonly string[];
  /** Goes into `createStreamTap`: usage was asked for on the client's behalf and has to be taken out again. */
  readonly usageInjected: boolean;
  /** Goes wherever the answer is read, see `AnswerEcho`. Absent: no name was changed. */
  readonly toolNames?: ReadonlyMap<string, string>;
}

/** Both names; equal when the channel does not map the name, and then nothing is echoed. */
export interface ModelEcho {
  readonly clientModel: string;
  readonly upstreamModel: string;
}

/** What the client shall read in an answer in place of what the upstream was told. */
export interface AnswerEcho extends ModelEcho {
  /** The client's names of tools that are called otherwise upstream, by the upstream's. Absent: all are the same. */
  readonly toolNames?: ReadonlyMap<string, string>;
}

export interface WireResponse {
  readonly body: Buffer;
  readonly usage: ReportedUsage | null;
  /** What it names that the upstream keeps. Absent: nothing. */
  readonly given?: readonly StateName[] | undefined;
}

/** The upstream's answer is not what its protocol promises (not JSON, not an object, an error inside a 200). */
export class UnreadableAnswer extends Error {
  /** The parsed error object when the answer was an error in a success's clothes. */
  readonly body: unknown;
  /** What it says was used all the same. */
  readonly usage: ReportedUsage | null;
  constructor(message: string, body: unknown = null, usage: ReportedUsage | null = null) {
    super(message);
    this.name = 'UnreadableAnswer';
    this.body = body;
    this.usage = usage;
  }
}

export interface StreamContext extends AnswerEcho {
  readonly usageInjected: boolean;
  /** The request allows searches of the upstream's own. */
  readonly searches?: boolean;
}

/** One complete event as it came: the bytes between two event boundaries. */
export interface StreamEvent {
  /** Everything including the blank line that ends it. */
  readonly raw: Buffer;
  /** The `event:` field, or null. */
  readonly name: string | null;
  /** The `data:` lines joined by LF; null when there was none (comments only). */
  readonly data: Buffer | null;
}

/**
 * What to do with an event: a sum of these bits. No bit set: forward it as it is.
 * Numbers, not objects, because this is decided for every event of every stream.
 */
export const verdict = Object.freeze({
  forward: 0,
  /** Not for the client. */
  drop: 1,
  /** Forward `tap.replacement` instead of the event's own bytes. */
  replace: 2,
  /** Carries content: from here on the client has seen something and failover is over. */
  content: 4,
  /** The success terminator begins here: it and all that follows waits for the journal. */
  terminal: 8,
  /** The upstream says it failed; see `tap.failure`. Never forwarded. */
  failed: 16,
});

/** Watches one upstream stream. Keeps counts and the last usage, never the content. */
export interface StreamTap {
  inspect(event: StreamEvent): number;
  /** Valid right after an `inspect` that answered `replace`. */
  readonly replacement: Buffer | null;
  /** The latest usage seen, merged as the protocol says; null when none. */
  readonly usage: ReportedUsage | null;
  /** A clean end of the body now is a complete answer. */
  readonly finished: boolean;
  /** Complete, and nothing more belongs to the answer: its end need not be waited for. */
  readonly closed: boolean;
  /** The last thing that the answer had begun is whole, so that its final usage may come at any moment. */
  readonly awaitsUsage: boolean;
  /** Frames the protocol requires at a complete end and the upstream left out (chat's `[DONE]`); usually empty. */
  completion(): string;
  /** The error object of a `failed` verdict, in the shape of the protocol's HTTP error body. */
  readonly failure: unknown;
  /** What the answer has named so far that the upstream keeps; it only grows. Absent: nothing. */
  readonly given?: readonly StateName[] | undefined;
  /** Bytes of output text, reasoning and tool arguments seen so far: for an estimate when no usage came. */
  readonly outputBytes: number;
  /** Searches of the upstream's seen so far, as far as events other than the usage show them. */
  readonly webSearches: number;
  /**
   * Ends a broken answer whose frames were made here and not by the upstream: `Protocol.encodeStreamError` could not
   * know what they said. Null when that knows enough.
   */
  fail?(error: GatewayError): string | null;
}
