import type { RequestFacts } from '#body-work/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import { usualImageTokens } from '#estimation/index.ts';
import { estimateInputTokens, type WireRequest } from '#protocols/index.ts';
import type { Conversation } from '#routing/index.ts';
import type { StateLocation } from '#upstream-state/index.ts';
import type { NamingRequest } from '../admission/named-state.ts';
import type { TextInput } from './input.ts';
import type { LargeBody } from './large-body.ts';

/** A text request that is valid and allowed. It still needs money and a route. */
export interface CheckedText extends NamingRequest {
  readonly request: WireRequest;
  /** What it requests that changes its price, if an upstream gets it. */
  readonly terms: readonly string[];
  /** Null for a body that is handled in this thread. */
  readonly large: LargeBody | null;
  /** What a thread has found out about a request that was not parsed here. */
  readonly facts: RequestFacts | null;
}

/** A checked request and the routes that can serve it, found once for all attempts. */
export interface PreparedText {
  /** The text is gone after `forgetText`. If a thread has read the request, the values of its members are missing. */
  request: WireRequest;
  /** Null for a body that is handled in this thread, and after its text has been forgotten. */
  large: LargeBody | null;
  /** An estimate of the request's tokens, made when its text was forgotten. */
  inputTokens: number | null;
  readonly model: Model;
  /** See `CheckedText`. */
  readonly terms: readonly string[];
  /** In the order to try them. */
  readonly routes: readonly Route[];
  /** Null when there is only one route with one credential, because it decides nothing then. */
  readonly conversation: Conversation | null;
  /** Where the state is that the request names; null when none of it is known. */
  readonly stateLocation: StateLocation | null;
  /** Ids in the request without an owner; null when there are none. */
  readonly unownedIds: ReadonlySet<string> | null;
  /**
   * The request's history holds sealed reasoning. Null until it has been checked, which costs a search through its
   * bytes.
   */
  isSealed: boolean | null;
  readonly bounds: RequestBounds;
}

/** What a response can have used of what was asked for. */
export interface RequestBounds {
  /**
   * The most output of each choice that the money pays for, if it is less than what was asked for; null: it is enough.
   */
  readonly cap: number | null;
  /** More input tokens than this are in no such request; infinite if its bytes do not tell. */
  readonly mostInput: number;
}

const noText = Object.freeze({ body: Buffer.alloc(0), json: Object.freeze({}) });

/**
 * Releases the request's text. Once the client has seen some of a response, no other upstream is sent the request. An
 * agent's request has hundreds of kilobytes, and more when parsed, and its response may take minutes.
 */
export function forgetText(input: TextInput, preparedText: PreparedText): void {
  preparedText.inputTokens = inputTokensOf(preparedText);
  preparedText.large = null;
  preparedText.request = { ...preparedText.request, ...noText };
  input.body = noText.body;
  input.memory?.release();
}

/** The parts of a prepared request that an estimate of its tokens needs. */
export type CountedText = Pick<PreparedText, 'inputTokens' | 'request' | 'model' | 'routes'>;

/** Estimates the request's tokens, for when no upstream reports them. */
export function inputTokensOf({ inputTokens, request, model, routes }: CountedText): number {
  if (inputTokens !== null) return inputTokens;
  if (request.extent.images === 0) return estimateInputTokens(request);
  // All channels have the same model, whatever they call it, so the first name will do.
  const target = { model: routes[0]?.upstreamModel ?? model.id, protocol: 'chat' } as const;
  return estimateInputTokens(request, usualImageTokens(target));
}
