import type { RequestFacts } from '#body-work/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import type { WireRequest } from '#protocols/index.ts';
import type { Conversation } from '#routing/index.ts';
import type { StateHome } from '#upstream-state/index.ts';
import type { CheckedRequest } from '../exchange/operation.ts';
import type { LargeBody } from './large-body.ts';
import type { NameJudgement } from './state/judge-names.ts';

/** A text request that may be asked, if it can be paid and somebody can answer it. */
export interface CheckedText extends CheckedRequest {
  readonly request: WireRequest;
  /** What it asks for that changes its price, if an upstream is sent it. */
  readonly terms: readonly string[];
  /** Null for a body that is handled where it is. */
  readonly large: LargeBody | null;
  /** What a thread knows of a request that was not parsed here. */
  readonly facts: RequestFacts | null;
  /** Null when the request names nothing that an upstream keeps. */
  readonly names: NameJudgement | null;
}

/** A checked request and the routes to answer it, found once for all attempts. */
export interface PreparedText {
  /** Without its text from `forgetText` on; of one that a thread has read, without the values of its members. */
  request: WireRequest;
  /** Null for a body that is handled where it is, and once its text is forgotten. */
  large: LargeBody | null;
  /** An estimate of its tokens, made when its text was forgotten. */
  inputTokens: number | null;
  readonly model: Model;
  /** As in `CheckedText`. */
  readonly terms: readonly string[];
  /** In the order to try them. */
  readonly routes: readonly Route[];
  /** Null when there is only one route, so that nothing depends on it. */
  readonly conversation: Conversation | null;
  /** Where the state lies that it names; null when it names none that is known. */
  readonly home: StateHome | null;
  /** Ids that it names and nobody knows; null when it names none. */
  readonly strange: ReadonlySet<string> | null;
  /** Its history holds reasoning that we sealed. Null until somebody looked: that costs a search through its bytes. */
  isSealed: boolean | null;
}
