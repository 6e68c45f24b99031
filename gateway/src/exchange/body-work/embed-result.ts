import type { EmbeddingsRequest, EmbeddingsResponse } from '#protocols/index.ts';
import type { PlainError } from './plain-error.ts';
import type { Unreadable } from './unreadable.ts';

/** What the main thread learns about a request for embeddings that it has not parsed. */
export interface EmbedSummary {
  readonly model: string;
  /** The facts, or why the request is refused. The model is checked first. */
  readonly facts: EmbedFacts | PlainError;
}

export interface EmbedFacts extends Omit<EmbeddingsRequest, 'body' | 'model' | 'members'> {
  /** The members of the body that an error may name. */
  readonly members: readonly string[];
}

/** What a thread made of a complete response with embeddings. */
export type EmbedResult =
  | (Omit<EmbeddingsResponse, 'body'> & {
      readonly kind: 'whole';
      /** For the client. */
      readonly body: Uint8Array;
    })
  | Unreadable;
