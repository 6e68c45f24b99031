import type { TextProtocolName, VideoProtocolName } from '#canonical/index.ts';
import type {
  ResponseTerms,
  ConversionTarget,
  ConvertedBody,
  ConvertedExchange,
  KeptState,
  PictureReading,
  ReasoningPlace,
  StateMaker,
} from '#conversion/index.ts';
import type { Outline } from '#estimation/index.ts';
import type {
  ImageRequest,
  ModelEcho,
  NamedItem,
  OpenedImages,
  ResponseEcho,
  PatchedRequest,
  PatchTarget,
  RequestPath,
  WireRequest,
} from '#protocols/index.ts';
import type { Conversation, ConversationSource } from '#routing/index.ts';
import type { EmbedResult, EmbedSummary } from './embed-result.ts';
import type { ImageResult } from './image-result.ts';
import type {
  PlainChatPictures,
  PlainContentsPictures,
  PlainGeneration,
  PlainPictureRequest,
} from './picture-request-result.ts';
import type { PicturesResult } from './picture-result.ts';
import type { VideoReading } from './video-reading.ts';
import type { ResponseResult } from './response-result.ts';
import type { PlainError } from './plain-error.ts';

/** The initial data of every thread. */
export interface ThreadSeed {
  /** Keys for state that clients keep. */
  readonly stateKey: Uint8Array;
}

/** The request of a job. A thread that has just read it does not read it again. */
export interface JobRequest {
  /** The exchange's id, which distinguishes bodies. */
  readonly exchange: string;
  readonly protocol: TextProtocolName;
  readonly path: RequestPath;
  readonly body: Uint8Array;
}

/** A job for a thread: plain data only. */
export type Job =
  | (JobRequest & { readonly kind: 'read'; readonly source: ReadSource })
  | (JobRequest & {
      readonly kind: 'patch';
      readonly target: PatchTarget;
      readonly owner: string;
      /** Its reasoning of earlier turns is recalled; null: none is. */
      readonly maker: StateMaker | null;
      readonly remembered: readonly string[] | null;
    })
  | (JobRequest & {
      readonly kind: 'convert';
      readonly converted: Omit<ConvertedExchange, 'request'>;
      readonly target: ConversionTarget;
      /** Fetched for this request. Their memory is handed over like that of the body, and returned with it. */
      readonly media: PlainMedia;
      /** The calls of this owner for which the main thread remembers state. */
      readonly remembered: readonly string[] | null;
    })
  | (JobRequest & { readonly kind: 'outline' })
  | (JobRequest & { readonly kind: 'item-names' })
  | (JobRequest & {
      readonly kind: 'item-texts';
      /** The items to put in, by their places in the input. */
      readonly texts: readonly (readonly [at: number, text: string])[];
    })
  | {
      readonly kind: 'response';
      /** A complete response, or a stream where a complete response was requested. */
      readonly body: Uint8Array;
      /** The requested form. */
      readonly form: 'whole' | 'stream';
      /** The protocol of the upstream. */
      readonly upstream: TextProtocolName;
      readonly echo: ResponseEcho;
      /** Null: client and upstream use the same protocol. */
      readonly terms: TermsText | null;
    }
  | { readonly kind: 'embed-read'; readonly body: Uint8Array }
  | { readonly kind: 'embed-response'; readonly body: Uint8Array; readonly echo: ModelEcho }
  | {
      readonly kind: 'image-read';
      readonly form: OpenedImages['form'];
      readonly contentType: string;
      readonly body: Uint8Array;
    }
  | {
      readonly kind: 'video-read';
      readonly protocol: VideoProtocolName;
      readonly body: Uint8Array;
    }
  | { readonly kind: 'image-response'; readonly body: Uint8Array; readonly echo: ModelEcho }
  | (PictureReading & { readonly kind: 'picture-response'; readonly body: Uint8Array })
  | { readonly kind: 'chat-pictures'; readonly body: Uint8Array }
  | { readonly kind: 'contents-pictures'; readonly body: Uint8Array }
  | {
      readonly kind: 'images-pictures';
      readonly body: Uint8Array;
      readonly opened: Omit<OpenedImages, 'body'>;
    }
  | {
      readonly kind: 'edit-as-generation';
      readonly body: Uint8Array;
      readonly request: Omit<ImageRequest, 'body'>;
    };

/** Media by their addresses. */
export type PlainMedia = readonly (readonly [
  url: string,
  media: { readonly mime: string; readonly bytes: Uint8Array },
])[];

/** What reading a request needs besides its body. */
export type ReadSource = Pick<ConversationSource, 'keyId' | 'headers'>;

/** What the main thread learns about a request that it has not parsed. */
export interface ReadSummary {
  readonly model: string;
  /** The facts, or why the request is refused. The model is checked first. */
  readonly facts: RequestFacts | PlainError;
}

export interface RequestFacts {
  /** Everything that reading found, by exclusion: a new member cannot be forgotten here. */
  readonly checked: Omit<WireRequest, 'path' | 'body' | 'scan' | 'json' | 'model'>;
  /** The members of the body that an error may name. */
  readonly members: readonly string[];
  /** Whether it contains reasoning that the gateway sealed. */
  readonly isSealed: boolean;
  readonly conversation: Conversation;
}

export interface PatchedBody extends PatchedRequest {
  /** Whether sealed reasoning of other upstreams was removed. */
  readonly isStripped: boolean;
  /** See `RecalledReasoning`. */
  readonly place: ReasoningPlace | null;
}

/** `context.request` as JSON text, which keeps numbers as the client wrote them. */
export interface TermsText extends Omit<ResponseTerms, 'context'> {
  readonly context: Omit<ResponseTerms['context'], 'request'>;
  readonly request: string;
}

export interface ConvertedText extends Omit<ConvertedBody, 'terms'> {
  readonly terms: TermsText;
}

/** The result of a job of each kind. */
export interface JobValues {
  readonly read: ReadSummary;
  readonly patch: PatchedBody;
  readonly convert: ConvertedText;
  readonly outline: Outline;
  readonly 'item-names': { readonly names: readonly NamedItem[] };
  readonly 'item-texts': { readonly body: Buffer };
  readonly response: ResponseResult;
  readonly 'embed-read': EmbedSummary;
  readonly 'embed-response': EmbedResult;
  readonly 'image-read': Omit<OpenedImages, 'body'>;
  readonly 'image-response': ImageResult;
  readonly 'video-read': VideoReading;
  readonly 'picture-response': PicturesResult;
  readonly 'chat-pictures': PlainChatPictures;
  readonly 'contents-pictures': PlainContentsPictures;
  readonly 'images-pictures': PlainPictureRequest;
  readonly 'edit-as-generation': PlainGeneration;
}

export interface JobResult {
  /** The transferred body, returned. */
  readonly body: Uint8Array;
  /** The transferred media, returned. */
  readonly media: PlainMedia;
  readonly outcome: { readonly value: JobValues[Job['kind']] } | { readonly error: PlainError };
  /** The value's body is the request's own, which is transferred only once. */
  readonly isSameBody: boolean;
}

/** What a job asks of the main thread: the state that it remembers of these calls. One question at a time. */
export interface Question {
  readonly calls: readonly string[];
}

export type Reply = readonly (readonly [call: string, kept: KeptState])[];
