import type { WireObject } from './wire.ts';

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
  begun: boolean;
  /** Its arguments turned out to begin as an object does; until then they are held back. */
  streams: boolean;
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
