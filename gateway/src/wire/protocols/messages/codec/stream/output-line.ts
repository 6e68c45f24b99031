import type { WireObject } from '../../wire.ts';

/** A block of the response, from its first piece until it is fully written. */
export type Piece = WordsPiece | CallPiece | WholePiece;

export interface WordsPiece {
  readonly kind: 'text' | 'refusal' | 'thinking';
  /** Thinking and its summary are separate blocks. */
  readonly summary: boolean | undefined;
  /** Text that was not written yet. */
  text: string;
  /** The signature of thinking, which goes out just before its end. */
  signature: string | null;
  begun: boolean;
  done: boolean;
}

export interface CallPiece {
  readonly kind: 'call';
  readonly call: number;
  readonly id: string;
  readonly name: string;
  text: string;
  /** The first character of the arguments, white space aside; empty until it has come. */
  opening: string;
  begun: boolean;
  done: boolean;
}

export interface WholePiece {
  readonly kind: 'whole';
  readonly block: WireObject;
  readonly done: true;
}

export function wordsPiece(kind: WordsPiece['kind'], text: string, summary?: boolean): WordsPiece {
  return { kind, summary, text, signature: null, begun: false, done: false };
}
