import type { ReportedUsage, TextOperationName, TextProtocolName } from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { Budget, JsonScan, ParseRoom } from '#json/index.ts';
import type { QuirksOfRequest } from '#vendors/index.ts';
import type { InputExtent } from './shared/text/input-extent.ts';
import type { NamedState, StateName } from './shared/state/named-state.ts';
import type { OutputKinds } from './shared/text/request-values.ts';
import type { JsonRecord } from './shared/values.ts';

/**
 * One wire format, as the relay sees it. Pure: no I/O, no clock. A protocol never imports another one. This interface
 * serves exchanges in one protocol, where bytes that need no change stay as received.
 */
export interface Protocol {
  readonly name: TextProtocolName;

  /**
   * Scans and parses a request body once, and reads the name of the model. The caller's right to use that model is
   * checked before the rest of the body is read.
   * @param room bounds the memory for the parsed body; absent: unbounded
   * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`, `model_required`, and what `room` throws.
   */
  openRequest(body: Buffer, path: RequestPath, room?: ParseRoom): OpenedRequest;

  /**
   * Reads the remaining values that the gateway needs, and checks those that it insists on.
   * @throws GatewayError `missing_parameter`, `invalid_value`.
   */
  readRequest(openedRequest: OpenedRequest): WireRequest;

  /**
   * The body for one upstream: the declared patches as byte splices, everything else as the client sent it.
   * @throws GatewayError `invalid_value` for what every upstream of this protocol refuses and no rule repairs,
   *   `too_complex`.
   */
  patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest;

  /**
   * Leaves reasoning state out of the history of a request: blocks and items that are nothing without it, else only the
   * member.
   * @param take asked for each carrier of state in turn, the oldest first: whether it is left out
   * @returns the members of the request that change
   */
  leaveOutState(json: JsonRecord, take: () => boolean): JsonRecord;

  /**
   * Reads a complete response that was not streamed. Restores the client's names where they were mapped, and changes
   * nothing else.
   * @throws UnreadableResponse if it is not a response object of this protocol.
   */
  readResponse(body: Buffer, echo: ResponseEcho): WireResponse;

  /** Turns a whole response into the frames of an equivalent stream. Unknown members are kept. */
  toEvents(response: JsonRecord): string;

  /** Turns the events of a complete stream into the equivalent whole response. */
  toWhole(events: readonly JsonRecord[]): JsonRecord;

  /** One per attempt of a streamed exchange. */
  createStreamTap(context: StreamContext): StreamTap;

  /** The whole error body, JSON text. `requestId` is the gateway's. */
  encodeError(error: GatewayError, requestId: string): string;

  /** One or more complete event-stream frames that end a broken stream in this protocol. */
  encodeStreamError(error: GatewayError, requestId: string, tap: StreamTap | null): string;

  /** A complete frame that keeps a silent connection alive. `begun`: an event has been written. */
  keepAlive(begun: boolean): string;
}

/** What the URL names in protocols that use it so (generate-content); null elsewhere. */
export interface RequestPath {
  readonly operation: TextOperationName;
  readonly model: string | null;
  readonly stream: boolean | null;
}

/** A request body: its bytes, the places of the watched members, and the values. */
export interface OpenedRequest {
  readonly path: RequestPath;
  readonly body: Buffer;
  readonly scan: JsonScan;
  /** The parsed body. Read only. */
  readonly json: Readonly<Record<string, unknown>>;
  /** What is left of the body's budget. Draw from a copy: another channel may be tried. */
  readonly budget: Readonly<Budget>;
  /** The model as the client named it, in the body or the path. */
  readonly model: string;
}

/** A request whose values were checked. */
export interface WireRequest extends OpenedRequest {
  readonly stream: boolean;
  /** The client's limit of output tokens; null if it named none. */
  readonly maxOutputTokens: number | null;
  /** How many choices the client asked for (`n`, `candidateCount`); at least 1. */
  readonly choices: number;
  /** The upstream continues after a disconnect (`background`). */
  readonly continuesAfterDisconnect?: boolean;
  /** What the bytes of the body do not reveal about the input. */
  readonly extent: InputExtent;
  /** What the output may consist of besides text. Absent: anything. */
  readonly outputKinds?: OutputKinds;
  /** The stored objects that the request names, each once. Absent: none. */
  readonly namedStates?: readonly NamedState[] | undefined;
  /** The upstream stores the response, so that later requests can name it and its items. */
  readonly isKept?: boolean;
  /** Terms that may change the price, such as `service_tier.priority`. Usually empty. */
  readonly terms: readonly string[];
  /** Betas that the body names; some hosts expect them there. Absent: none. */
  readonly betas?: readonly string[];
  /** The client's limit of hosted searches; null: no limit. Absent: searches are not allowed. */
  readonly webSearches?: number | null;
}

/** The most output that the money pays for. Plain data: it is sent to other threads. */
export interface OutputCap {
  /** Of each choice. */
  readonly tokens: number;
  /** What the upstream does without a limit; null: unknown. */
  readonly usual: number | null;
  /** The upstream's name for the limit in chat, if the client wrote none. */
  readonly chatMember: 'max_tokens' | 'max_completion_tokens';
}

export interface PatchTarget {
  readonly upstreamModel: string;
  /** The catalogue's output limit of the model; null if unknown. */
  readonly maxOutputTokens: number | null;
  /** The client's, by lower-case name: versions and betas decide what an upstream accepts. Absent: unknown. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** What the upstream refuses of this protocol. Absent: nothing. */
  readonly quirks?: QuirksOfRequest;
  /** The most output that the money pays for. Absent: the request's own limit counts. */
  readonly outputCap?: OutputCap;
  /** Absent: the reasoning of earlier turns stays as the client sent it. */
  readonly echo?: ReasoningEcho;
  /** How many carriers of reasoning state are left out of the history, the oldest first. Absent: none. */
  readonly withoutState?: number;
}

/** What becomes of the reasoning text in the history of a chat client. */
export interface ReasoningEcho {
  /** It must be in every message of the model, or in none. */
  readonly rule: 'require' | 'strip';
  /** What the client has left out, by the place of the message. */
  readonly texts?: ReadonlyMap<number, string>;
}

export interface PatchedRequest {
  readonly body: Buffer;
  /** Ids of declared rewrites, for the usage row and `x-sluice-rewrites` (`b1`, `b2`, `p1`). */
  readonly rewrites: readonly string[];
  /** For `createStreamTap`: the gateway added a request for usage, so the tap has to remove the usage. */
  readonly usageInjected: boolean;
  /** For whoever reads the response, see `ResponseEcho`. Absent: no name was changed. */
  readonly toolNames?: ReadonlyMap<string, string>;
  /** How many carriers of reasoning state were left out. Absent: none. */
  readonly leftOutStates?: number;
}

/** The two names of the model. They are equal if the channel does not map the name. */
export interface ModelEcho {
  readonly clientModel: string;
  readonly upstreamModel: string;
}

/** What responses show to the client in place of what the upstream was sent. */
export interface ResponseEcho extends ModelEcho {
  /** The client's names of renamed tools, by the upstream's names. Absent: no tool was renamed. */
  readonly toolNames?: ReadonlyMap<string, string>;
}

export interface WireResponse {
  readonly body: Buffer;
  readonly usage: ReportedUsage | null;
  /** The objects that the upstream stores and the response names. Absent: none. */
  readonly storedNames?: readonly StateName[] | undefined;
}

/** The upstream's response breaks its protocol: not JSON, not an object, or an error with status 200. */
export class UnreadableResponse extends Error {
  /** The parsed error object, if the response was an error with status 200. */
  readonly body: unknown;
  /** The usage that it reports nevertheless. */
  readonly usage: ReportedUsage | null;
  constructor(message: string, body: unknown = null, usage: ReportedUsage | null = null) {
    super(message);
    this.name = 'UnreadableResponse';
    this.body = body;
    this.usage = usage;
  }
}

export interface StreamContext extends ResponseEcho {
  readonly usageInjected: boolean;
  /** The request allows hosted searches. */
  readonly searches?: boolean;
  /** Sees every event that can be read. Absent: nobody does. */
  readonly observe?: (event: StreamEvent) => void;
}

/** One complete event as received: the bytes between two event boundaries. */
export interface StreamEvent {
  /** All bytes, with the blank line that ends the event. */
  readonly raw: Buffer;
  /** The `event:` field, or null. */
  readonly name: string | null;
  /** The `data:` lines joined by LF; null if there are none (comments only). */
  readonly data: Buffer | null;
}

/**
 * What to do with an event: a sum of these bits. Zero: forward it unchanged.
 * Numbers instead of objects, because every event of every stream gets a verdict.
 */
export const verdict = Object.freeze({
  forward: 0,
  /** Do not forward the event. */
  drop: 1,
  /** Forward `tap.replacement` instead of the event's own bytes. */
  replace: 2,
  /** The event has content. Once the client has seen it, no other channel can be tried. */
  content: 4,
  /** The success terminator begins here. It and all that follows waits for the journal. */
  terminal: 8,
  /** The upstream reports a failure, see `tap.failure`. Never forwarded. */
  failed: 16,
});

/** Reads one upstream stream as it passes. Keeps counts and the latest usage, never the content. */
export interface StreamTap {
  inspect(event: StreamEvent): number;
  /** Valid until the next `inspect`, if the verdict has `replace`. */
  readonly replacement: Buffer | null;
  /** The latest usage, merged by the protocol's rules; null if there was none. */
  readonly usage: ReportedUsage | null;
  /** If the body ended now, the response would be complete. */
  readonly finished: boolean;
  /** The response is complete and nothing can follow, so nobody needs to wait for the end of the body. */
  readonly closed: boolean;
  /** Every part that began is complete, so the final usage may come next. */
  readonly awaitsUsage: boolean;
  /** Frames that the protocol requires at the end and the upstream omitted (chat's `[DONE]`). Usually empty. */
  completion(): string;
  /** The error of a `failed` verdict, in the shape of the protocol's HTTP error body. */
  readonly failure: unknown;
  /** The stored objects that the response has named so far. The list only grows. Absent: none. */
  readonly storedNames?: readonly StateName[] | undefined;
  /** The word with which the response ends, if no table knows it. Null or absent: it is known, or none has come. */
  readonly unknownEnding?: string | null;
  /** Bytes of text, reasoning and tool arguments so far, for an estimate if no usage comes. */
  readonly outputBytes: number;
  /** Hosted searches so far, as far as events other than the usage show them. */
  readonly webSearches: number;
  /**
   * Ends a broken response whose frames the gateway made: `Protocol.encodeStreamError` does not know what they said.
   * Null if `encodeStreamError` is enough.
   */
  fail?(error: GatewayError): string | null;
}
