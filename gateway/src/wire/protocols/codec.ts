import {
  type Extensions,
  type GenerationEvent,
  type GenerationRequest,
  type GenerationResponse,
  type Loss,
  type TextProtocolName,
  type TokenUsage,
  noExtensions,
} from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { Budget } from '#json/index.ts';
import type { UpstreamTraits } from '#vendors/index.ts';
import type { StreamEvent, WireRequest } from './protocol.ts';
import type { JsonRecord } from './shared/values.ts';

/**
 * Converts between one protocol and the canonical model. Pure, like `Protocol`, which serves exchanges whose two
 * sides speak the same protocol. A codec never sees the other side's protocol.
 *
 * `conversion/` does once, between decoding and encoding, what several protocols need: ids and names of tools,
 * custom and namespaced tools, reasoning state in envelopes, media that must be fetched. A codec declares in
 * `traits` what it can carry, and encodes what it is given.
 */
export interface Codec {
  readonly name: TextProtocolName;
  readonly traits: CodecTraits;
  /** Members of requests and responses that are passed on unread: arguments and results of calls, schemas. */
  readonly passedOn: ReadonlySet<string>;
  /** The traits of one upstream, where upstreams of this protocol differ. Absent: they do not. */
  upstreamTraits?(target: Pick<EncodeTarget, 'traits' | 'model'>): CodecTraits;

  /**
   * Turns a checked request body into a canonical request. Unknown members become extensions, unknown blocks `opaque`.
   * @throws GatewayError `invalid_value` with `param` for a meaningless value (a broken data URL, an unknown role).
   */
  decodeRequest(request: WireRequest): GenerationRequest;

  /**
   * Turns a canonical request into a request body for an upstream. Everything that does not arrive is a loss.
   * @throws Unconvertible where a loss would change the response materially; GatewayError `too_complex`.
   */
  encodeRequest(request: GenerationRequest, target: EncodeTarget): Encoded<JsonRecord>;

  /**
   * Turns what `encodeRequest` returned into a request to the token counter. Absent: the protocol has no counter.
   */
  encodeCount?(json: JsonRecord, target: EncodeTarget): JsonRecord;

  /** The part of a request that its response needs; the rest is released early. Absent: the response needs all of it. */
  forResponse?(request: GenerationRequest): Omit<GenerationRequest, 'turns'>;

  /** Whether a client takes state in a reasoning block of its own. Absent: it does. */
  wantsState?(extensions: Extensions): boolean;

  /** Decodes a complete response that `Protocol.readResponse` accepted. Usage is read there. */
  decodeResponse(json: JsonRecord): GenerationResponse;

  /** Encodes a complete response for a client. */
  encodeResponse(
    response: GenerationResponse,
    usage: TokenUsage | null,
    context: ResponseContext,
  ): JsonRecord;

  /** One per attempt. The tap reads errors and usage in the stream (`Protocol.createStreamTap`). */
  createStreamDecoder(): StreamDecoder;
  /** The last events of a stream repeat the whole response. Absent: they do not. */
  readonly repeatsResponses?: boolean;
  /** The data of a large event, without what earlier events have said. Absent: no event repeats much. */
  leanEvent?(data: Buffer): Buffer;
  /** One per attempt. */
  createStreamEncoder(context: ResponseContext): StreamEncoder;

  /** The client's name for a member of `Loss.what`: `stop` → `stop_sequences`. */
  fieldName(what: string): string;
}

export type MediaType = 'image' | 'file' | 'audio' | 'video';

/** What a protocol can carry. The models behind it may carry less. */
export interface CodecTraits {
  /** The characters and the length that names of tools may have. */
  readonly toolName: RegExp;
  readonly toolNameLength: number;
  /** The characters that ids of calls may have. Null: the protocol needs no ids. */
  readonly toolId: RegExp | null;
  readonly toolIdLength: number;
  readonly customTools: boolean;
  readonly toolNamespaces: boolean;
  /** Where clients return opaque state: on any block, on reasoning blocks only, or nowhere. */
  readonly state: 'block' | 'reasoning' | 'none';
  /** Media that upstreams take as bytes only, so that the gateway fetches those that the client names by address. */
  readonly mediaAsBytes: ReadonlySet<MediaType>;
  /** Requests can name the prompt cache that they share. */
  readonly cacheKey: boolean;
  /** Tool results can hold images and files. */
  readonly toolResultMedia: boolean;
}

export interface Encoded<Body> {
  readonly json: Body;
  readonly losses: readonly Loss[];
}

/** The upstream for which a request is encoded. */
export interface EncodeTarget {
  /** The rest of the request's budget. This encoding draws from a copy of its own. */
  readonly budget: Budget;
  readonly model: string;
  /** What this upstream accepts that others of the same protocol do not. */
  readonly traits: UpstreamTraits;
  /** The catalogue's output limit; null when unknown. */
  readonly maxOutputTokens: number | null;
  /** From the catalogue: `vision`, `tools`, `reasoning`, `sampling`, `hosted_tools`. Empty: unknown. */
  readonly capabilities: ReadonlySet<string>;
  /** Whether reasoning text of earlier turns must, may or must not be sent to a chat upstream. */
  readonly echoReasoning: 'require' | 'allow' | 'strip' | null;
  /** The request gets marks of a prompt cache unless the client has placed some. Absent: it does not. */
  readonly cache?: CacheOffer;
}

/** How the caches that marks make are paid. */
export interface CacheOffer {
  /** Caches that live for an hour have a price of their own. */
  readonly isLongPriced: boolean;
}

/** What a response repeats of its request. */
export interface ResponseContext {
  /** The gateway's, `req_` + 24 characters. Ids in the response derive from it, so one exchange always gives the same. */
  readonly requestId: string;
  /** As the client wrote it. */
  readonly model: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** The client's, as decoded, without the conversation: that would stay in memory until the response ends. */
  readonly request: Omit<GenerationRequest, 'turns'>;
  /** An estimate of the input tokens, for protocols that report them first. */
  readonly inputTokens: number;
}

export interface StreamDecoder {
  /** The canonical events of one upstream event, in order. */
  push(event: StreamEvent, emit: (event: GenerationEvent) => void): void;
  /** The events that were held back until the body ended. */
  end(emit: (event: GenerationEvent) => void): void;
}

/**
 * A state machine that never produces an illegal sequence, in whatever order the events come. Every method returns
 * the next complete frames, or an empty text.
 */
export interface StreamEncoder {
  /** Writes content events at once and keeps `finish` for `end`. */
  push(event: GenerationEvent): string;
  /** Ends a complete response, with the terminator. Nothing may be pushed afterwards. */
  end(usage: TokenUsage | null): string;
  /** Ends a broken response with the protocol's error frame, in keeping with what was written, and no terminator. */
  fail(error: GatewayError): string;
}

/** The request without its long parts (conversation, tools …), for protocols whose responses do not repeat them. */
export function settingsOf(
  request: GenerationRequest,
  extensions: Extensions = noExtensions,
): Omit<GenerationRequest, 'turns'> {
  const { turns: _, ...settings } = request;
  return { ...settings, system: [], tools: [], toolChoice: null, format: null, extensions };
}
