import type {
  GenerationEvent,
  GenerationRequest,
  GenerationResponse,
  Loss,
  TextProtocolName,
  TokenUsage,
} from '#canonical/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { Budget } from '#json/index.ts';
import type { UpstreamTraits } from '#vendors/index.ts';
import type { StreamEvent, WireRequest } from './protocol.ts';
import type { JsonRecord } from './values.ts';

/**
 * One protocol's way into and out of the canonical model. Pure, as `Protocol` is, which serves the case that both
 * sides speak the same; a codec never sees the other side.
 *
 * What several protocols need alike is done once, between decoding and encoding, in `conversion/`: ids and names of
 * tools, custom and namespaced tools, reasoning state in envelopes, media that must be fetched. A codec says in
 * `traits` what it can carry and encodes what it is given.
 */
export interface Codec {
  readonly name: TextProtocolName;
  readonly traits: CodecTraits;
  /** Members, of requests and answers, that are only passed on: arguments and results of calls, schemas. */
  readonly passedOn: ReadonlySet<string>;
  /** Where one upstream of this protocol can carry more or less than the next. Absent: all can carry the same. */
  upstreamTraits?(target: Pick<EncodeTarget, 'traits' | 'model'>): CodecTraits;

  /**
   * A checked request body → canonical. Unknown members become extensions, unknown blocks `opaque`.
   * @throws GatewayError `invalid_value` with `param` for what has no meaning (a broken data URL, an unknown role).
   */
  decodeRequest(request: WireRequest): GenerationRequest;

  /**
   * Canonical → a request body for an upstream. Every thing the client wrote that does not arrive is one loss.
   * @throws Unconvertible for what would make the answer materially different, GatewayError `too_complex`.
   */
  encodeRequest(request: GenerationRequest, target: EncodeTarget): Encoded<JsonRecord>;

  /**
   * What `encodeRequest` made, as this protocol's token counter takes it. Absent: the protocol has no counter.
   */
  encodeCount?(json: JsonRecord, target: EncodeTarget): JsonRecord;

  /** What of a request the answers to it repeat or go by, so that no more is kept until then. Absent: all of it. */
  forAnswer?(request: GenerationRequest): Omit<GenerationRequest, 'turns'>;

  /** A complete answer, known to be an answer object (`Protocol.readResponse` took it). Usage is read there. */
  decodeResponse(json: JsonRecord): GenerationResponse;

  /** A complete answer for a client. */
  encodeResponse(
    response: GenerationResponse,
    usage: TokenUsage | null,
    answer: AnswerContext,
  ): JsonRecord;

  /** One per attempt. Errors and usage inside the stream are the tap's (`Protocol.createStreamTap`). */
  createStreamDecoder(): StreamDecoder;
  /** The events that end a stream tell all of the answer once more. Absent: they do not. */
  readonly repeatsAnswers?: boolean;
  /** The data of a large event without what the events before it have said. Absent: no event repeats much. */
  leanEvent?(data: Buffer): Buffer;
  /** One per attempt. */
  createStreamEncoder(answer: AnswerContext): StreamEncoder;

  /** The client's own name of a thing in the vocabulary of `Loss.what`: `stop` → `stop_sequences`. */
  fieldName(what: string): string;
}

export type MediaType = 'image' | 'file' | 'audio' | 'video';

/** What a protocol can carry at all; the models behind it may carry less. */
export interface CodecTraits {
  /** Names of tools: characters and length. */
  readonly toolName: RegExp;
  readonly toolNameLength: number;
  /** Ids of calls; null: it needs none. */
  readonly toolId: RegExp | null;
  readonly toolIdLength: number;
  readonly customTools: boolean;
  readonly toolNamespaces: boolean;
  /** The client gives opaque state back: `block` on any block, `reasoning` on reasoning blocks only, `none`. */
  readonly state: 'block' | 'reasoning' | 'none';
  /** Media of which it wants the bytes where the client gives an address. */
  readonly mediaAsBytes: ReadonlySet<MediaType>;
  /** Requests may say which of them share a prompt cache. */
  readonly cacheKey: boolean;
  /** Images and files inside tool results. */
  readonly toolResultMedia: boolean;
}

export interface Encoded<Body> {
  readonly json: Body;
  readonly losses: readonly Loss[];
}

/** The upstream that a request is encoded for. */
export interface EncodeTarget {
  /** What the request may still make. Drawn from: its own to this encoding. */
  readonly budget: Budget;
  readonly model: string;
  /** What this upstream takes that other speakers of the protocol do not. */
  readonly traits: UpstreamTraits;
  /** The catalogue's output limit; null when unknown. */
  readonly maxOutputTokens: number | null;
  /** The catalogue's: `vision`, `tools`, `reasoning`, `sampling`, `hosted_tools`. Empty: nothing is known. */
  readonly capabilities: ReadonlySet<string>;
  /** Whether reasoning text of earlier turns must, may or must not be sent to a chat upstream. */
  readonly echoReasoning: 'require' | 'allow' | 'strip' | null;
}

/** What an answer repeats of its request. */
export interface AnswerContext {
  /** Ours, `req_` + 24 characters: the ids of the answer are minted from it, so that the same exchange gives the same. */
  readonly requestId: string;
  /** As the client wrote it. */
  readonly model: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** The client's, before any pass changed it; not its conversation, which would be kept as long as the answer lasts. */
  readonly request: Omit<GenerationRequest, 'turns'>;
  /** An estimate of the input, for protocols that announce it before anything else. */
  readonly inputTokens: number;
}

export interface StreamDecoder {
  /** What one upstream event says, in order. */
  push(event: StreamEvent, emit: (event: GenerationEvent) => void): void;
  /** The body has ended: what was still held back. */
  end(emit: (event: GenerationEvent) => void): void;
}

/**
 * A state machine that cannot produce an illegal sequence, whatever order the events come in. Every method gives the
 * complete frames (or nothing) that are to be written next.
 */
export interface StreamEncoder {
  /** Content events go out with the call that brought them; `finish` is kept for `end`. */
  push(event: GenerationEvent): string;
  /** The success terminator and all that belongs to it. Nothing may be pushed after it. */
  end(usage: TokenUsage | null): string;
  /** Ends a broken answer: the protocol's error frame, fitting what was written before, and no terminator. */
  fail(error: GatewayError): string;
}
