import type {
  Block,
  Citation,
  NativeState,
  TokenLogprob,
  ClientItem,
  Extensions,
} from './block.ts';

/** A complete response. */
export interface GenerationResponse {
  readonly candidates: readonly Candidate[];
  readonly extensions: Extensions;
}

export interface Candidate {
  readonly blocks: readonly Block[];
  readonly finish: Finish;
}

export interface Finish {
  readonly reason: FinishReason;
  /** The sequence that ended it, when known. */
  readonly stopSequence?: string | undefined;
  /** The upstream used a word of its own, and the reason is a guess. */
  readonly isGuess?: boolean | undefined;
}

export type FinishReason =
  | 'end'
  | 'stop-sequence'
  /** The output limit. */
  | 'length'
  /** The model's window. */
  | 'context-full'
  | 'tool'
  /** Cut by a content filter. */
  | 'filtered'
  /** The model declined in its own words. */
  | 'refused'
  /** The provider paused a long turn; the client may send it back to continue. */
  | 'pause'
  /** The prompt itself was refused: no output at all. */
  | 'blocked'
  /** A reason of the upstream that says nothing about the text, such as generate-content's `OTHER`. */
  | 'other';

/**
 * The events of a streamed response, in order. Text, refusal and reasoning come as deltas of the open block; a delta of
 * another type, a `block-end` or a call closes it. `choice` counts choices from 0 and is absent on the first.
 */
export type GenerationEvent = EventBody & { readonly choice?: number | undefined };

type EventBody =
  | {
      readonly type: 'text';
      readonly text: string;
      readonly logprobs?: readonly TokenLogprob[] | undefined;
    }
  | { readonly type: 'refusal'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string; readonly summary?: boolean | undefined }
  /** State of the open block, or of a reasoning block of its own if none is open. */
  | { readonly type: 'state'; readonly state: NativeState }
  /** The open block is complete: the next delta, even of the same type, belongs to another block. */
  | { readonly type: 'block-end' }
  /** `call` numbers the calls of one response from 0; arguments of several calls may interleave. */
  | {
      readonly type: 'call-start';
      readonly call: number;
      readonly id: string | null;
      readonly name: string;
      readonly namespace?: string | undefined;
      readonly kind: 'function' | 'custom';
      readonly state?: NativeState | undefined;
      /** As in `ToolCallBlock`. */
      readonly item?: ClientItem | undefined;
    }
  | { readonly type: 'call-arguments'; readonly call: number; readonly text: string }
  | { readonly type: 'call-end'; readonly call: number }
  /** A block that comes in one piece: an image, or something only its protocol understands. */
  | { readonly type: 'block'; readonly block: Block }
  /** Null: it cites something that only its vendor can resolve. */
  | { readonly type: 'citation'; readonly citation: Citation | null }
  | { readonly type: 'finish'; readonly finish: Finish };
