import type { TextProtocolName } from '#canonical/index.ts';
import type {
  AnswerTerms,
  ConversionTarget,
  ConvertedBody,
  ConvertedExchange,
  KeptState,
  StateKeys,
} from '#conversion/index.ts';
import type { Outline } from '#estimation/index.ts';
import type {
  AnswerEcho,
  PatchedRequest,
  PatchTarget,
  RequestPath,
  WireRequest,
} from '#protocols/index.ts';
import type { Conversation, ConversationSource } from '#routing/index.ts';
import type { PlainError } from './plain-error.ts';
import type { AnswerResult } from './read-answer.ts';

/** What every thread begins with. */
export interface ThreadSeed {
  /** For what clients are given to keep. */
  readonly stateKeys: StateKeys;
}

/** The request that a job is about. A thread that has just read it does not read it again. */
export interface JobRequest {
  /** The exchange's id: tells one body from another. */
  readonly exchange: string;
  readonly protocol: TextProtocolName;
  readonly path: RequestPath;
  readonly body: Uint8Array;
}

/** What a thread is to do: everything in it is plain data. */
export type Job =
  | (JobRequest & { readonly kind: 'read'; readonly source: ReadSource })
  | (JobRequest & { readonly kind: 'patch'; readonly target: PatchTarget })
  | (JobRequest & {
      readonly kind: 'convert';
      readonly converted: Omit<ConvertedExchange, 'request'>;
      readonly target: ConversionTarget;
      /** The calls of this owner of which the main thread remembers something. */
      readonly remembered: readonly string[];
    })
  | (JobRequest & { readonly kind: 'outline' })
  | {
      readonly kind: 'answer';
      /** A whole answer, or a stream of one where none was asked. */
      readonly body: Uint8Array;
      /** What is to become of it. */
      readonly form: 'whole' | 'stream';
      /** What the upstream speaks. */
      readonly upstream: TextProtocolName;
      readonly echo: AnswerEcho;
      /** Null: the client speaks as the upstream does. */
      readonly terms: TermsText | null;
    };

/** What reading a request takes besides its body. */
export type ReadSource = Pick<ConversationSource, 'keyId' | 'headers'>;

/** What the main thread knows of a request that it has not parsed. */
export interface ReadSummary {
  readonly model: string;
  /** Why it cannot be asked for; the model is looked at before. */
  readonly facts: RequestFacts | PlainError;
}

export interface RequestFacts {
  /** All that reading found, whatever that comes to be: what is not listed here cannot be forgotten. */
  readonly checked: Omit<WireRequest, 'path' | 'body' | 'scan' | 'json' | 'model'>;
  /** Of the body's members, those that an error may name. */
  readonly members: readonly string[];
  /** It holds reasoning that we sealed. */
  readonly isSealed: boolean;
  readonly conversation: Conversation;
}

export interface PatchedBody extends PatchedRequest {
  /** What other upstreams made and we sealed was taken out. */
  readonly isStripped: boolean;
}

/** `answer.request` as JSON text: numbers are written in it as the client wrote them. */
export interface TermsText extends Omit<AnswerTerms, 'answer'> {
  readonly answer: Omit<AnswerTerms['answer'], 'request'>;
  readonly request: string;
}

export interface ConvertedText extends Omit<ConvertedBody, 'terms'> {
  readonly terms: TermsText;
}

/** What comes of a job of each kind. */
export interface JobValues {
  readonly read: ReadSummary;
  readonly patch: PatchedBody;
  readonly convert: ConvertedText;
  readonly outline: Outline;
  readonly answer: AnswerResult;
}

export interface JobResult {
  /** Handed back. */
  readonly body: Uint8Array;
  readonly outcome: { readonly value: JobValues[Job['kind']] } | { readonly error: PlainError };
  /** The value's body is the request's own, which is not handed over twice. */
  readonly isSameBody: boolean;
}

/** What a job asks the main thread for. */
export type Question =
  | { readonly kind: 'remembered'; readonly calls: readonly string[] }
  | { readonly kind: 'media'; readonly url: string };

export interface Replies {
  readonly remembered: readonly (readonly [call: string, kept: KeptState])[];
  readonly media:
    | { readonly mime: string; readonly bytes: Uint8Array }
    | { readonly error: PlainError };
}
