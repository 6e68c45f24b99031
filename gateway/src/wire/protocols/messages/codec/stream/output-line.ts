import type { WireObject } from '../../wire.ts';

/** A block of the answer, from the first word that came of it until all of it is written. */
export type Piece = WordsPiece | CallPiece | WholePiece;

export interface WordsPiece {
  readonly kind: 'text' | 'refusal' | 'thinking';
  /** A summary and the thoughts themselves are blocks of their own. */
  readonly summary: boolean | undefined;
  /** Not written yet. */
  text: string;
  /** Thinking's; goes out just before its end. */
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
  /** What its arguments begin with, white space left out; empty until that has come. */
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
