import {
  judgeUsage,
  type CostLine,
  type PriceRates,
  type Rate,
  tokenBounds,
} from '#billing/index.ts';
import { noTokens, type ReportedUsage, saysNothing } from '#canonical/index.ts';
import type { Model } from '#catalogue/index.ts';
import {
  type EmbeddingsRequest,
  type EmbeddingsResponse,
  estimateTokens,
} from '#protocols/index.ts';
import { type DisconnectedAttempt, isError } from '../attempts/outcome.ts';
import { type Measured, nothingUsed } from '../ending/record.ts';
import type { PreparedEmbed } from './open-embed.ts';

type MeasuredRequest = Pick<PreparedEmbed, 'request' | 'model'>;

/**
 * What a request with a response used, as its upstream reported it, zero included. Without a report the operator's
 * policy decides; null means that the client must not get the response. A response without vectors is not estimated,
 * because it may have cost nothing.
 */
export function measureEmbed(
  { usage, isEmpty }: Pick<EmbeddingsResponse, 'usage' | 'isEmpty'>,
  preparedEmbed: MeasuredRequest,
  policy: 'estimate' | 'zero' | 'error',
): Measured | null {
  const marks = usage?.unread === undefined ? {} : { unread: usage.unread };
  if (usage !== null && !saysNothing(usage)) {
    return { ...usageOf(usage.tokens.input, judge(usage, preparedEmbed)), ...marks };
  }
  if (policy === 'error') return null;
  return {
    ...(policy === 'zero' || isEmpty ? nothingUsed : estimatedUsage(preparedEmbed)),
    ...marks,
  };
}

/** A client that leaves pays for the input, unless no upstream was asked or the upstream refused. */
export function measureLeftEmbed(
  { isSent, status }: Pick<DisconnectedAttempt, 'isSent' | 'status'>,
  preparedEmbed: MeasuredRequest,
): Measured {
  if (!isSent || (status !== null && isError(status))) return nothingUsed;
  return estimatedUsage(preparedEmbed);
}

function estimatedUsage({ request: { extent, inputBytes } }: MeasuredRequest): Measured {
  return usageOf(extent.tokens ?? estimateTokens(inputBytes), 'estimated');
}

/** Tokens that a server may add to each item: special ones, or an instruction that it puts before a text. */
const addedPerItem = 64;

/**
 * The model's window applies to each item of the input. And a text has at most as many tokens as bytes: whatever is
 * reported beyond that was not sent.
 */
function judge(
  usage: ReportedUsage,
  { request: { inputBytes, extent }, model: { contextWindow } }: MeasuredRequest,
): 'reported' | 'estimated' | 'quarantined' {
  const { items, tokens, unseen } = extent;
  const most = (unseen ? Infinity : (tokens ?? inputBytes)) + items * addedPerItem;
  if (usage.tokens.input > most) return 'quarantined';
  const windows = contextWindow === null ? null : contextWindow * items;
  const source = judgeUsage(usage, { contextWindow: windows, maxOutputTokens: 0 });
  return source === 'reported' && usage.isDoubtful === true ? 'estimated' : source;
}

function usageOf(input: number, source: Measured['source']): Measured {
  return {
    tokens: { ...noTokens, input },
    source,
    lines: (rates) => [{ rate: inputRate(rates), quantity: input }],
  };
}

type BoundedRequest = Pick<EmbeddingsRequest, 'body' | 'inputBytes' | 'extent'>;
type BoundingModel = Pick<Model, 'contextWindow' | 'maxOutputTokens'>;

/**
 * The most that a request can use, for its hold. It has input only.
 * @throws RangeError for a price without `input`; a model without that price is never served.
 */
export function boundEmbed(
  request: BoundedRequest,
  model: BoundingModel,
  rates: PriceRates,
): readonly CostLine<bigint>[] {
  return [{ rate: inputRate(rates), quantity: mostTokens(request, model) }];
}

/** @throws RangeError for a price without `input`, so that a defect does not make requests free. */
export function inputRate({ input }: PriceRates): Rate {
  if (input === null) throw new RangeError('no price for embeddings');
  return input;
}

/**
 * A list of tokens has as many tokens as elements, a text at most as many as bytes. Anything else is taken to fill the
 * model's window.
 */
function mostTokens(
  { body, inputBytes, extent: { items, tokens, unseen } }: BoundedRequest,
  model: BoundingModel,
): bigint {
  const asText = (bodyBytes: number): bigint =>
    tokenBounds(model, { bodyBytes, outputLimit: null, choices: null }).input;
  if (tokens !== null) return BigInt(tokens) + asText(body.length - inputBytes);
  const boundOfBody = asText(body.length);
  if (!unseen) return boundOfBody;
  const windows = tokenBounds(model, {
    bodyBytes: 0,
    outputLimit: null,
    choices: items,
    extent: unseenInput,
  }).input;
  return boundOfBody > windows ? boundOfBody : windows;
}

const unseenInput = {
  images: 0,
  imageTokens: 0,
  imageBytes: 0,
  unseen: true,
  hostedTools: false,
} as const;
