import { largestAnswer, readWholeAnswer, type WireProtocol } from '#body-work/index.ts';
import type { AnswerEcho, Protocol, WireResponse } from '#protocols/index.ts';
import type { AnswerReader, ReadingAnswer } from '../attempts/answer-reader.ts';
import { answerInThread, type LargeAnswers } from './large-answer.ts';
import type { TakeGiven } from './state/given-names.ts';

/** A whole answer, as the client is to get it. */
export interface TextAnswer extends WireResponse {
  /** An estimate, made with the answer where it was read; absent: nobody has made one. */
  readonly outputTokens?: number | null;
}

export interface TextAnswerSource {
  readonly protocol: Pick<Protocol, 'readResponse'>;
  /** What the upstream speaks. */
  readonly wire: WireProtocol;
  readonly echo: AnswerEcho;
  readonly large: Pick<LargeAnswers, 'whole'>;
  /** Null where the answer's ids are not the upstream's. */
  readonly takeGiven: TakeGiven | null;
}

/** Reads whole answers: the large ones in threads. */
export class TextAnswerReader implements AnswerReader<TextAnswer> {
  readonly largest = largestAnswer;
  readonly #source: TextAnswerSource;

  constructor(source: TextAnswerSource) {
    this.#source = source;
  }

  read(body: Buffer): TextAnswer {
    const { wire, protocol, echo } = this.#source;
    return readWholeAnswer(body, wire, protocol, echo);
  }

  readInThread(body: Buffer): ReadingAnswer<TextAnswer> | null {
    return body.length < answerInThread ? null : this.#source.large.whole(body);
  }

  /** Before the client sees the answer, what it names must be known. */
  accept({ given }: TextAnswer): void {
    if (given !== undefined) this.#source.takeGiven?.(given);
  }
}
