import { GatewayError } from '#errors/index.ts';
import { type EstimateTarget, familyOf, type Outline, outlineRequest } from '#estimation/index.ts';
import { encodeTokenCount } from '#protocols/index.ts';
import { isNative, upstreamProtocols } from '#routing/index.ts';
import { type Exchange, writeJson } from '../../exchange.ts';
import { finishCompleted, finishDisconnected, finishWithoutResponse } from '../../ending/finish.ts';
import { nothingUsed, responseHeaders } from '../../ending/record.ts';
import type { TextInput, TextParts } from '../input.ts';
import { givingBack, type LargeBody } from '../large-body.ts';
import { inputTokensOf, type PreparedText } from '../prepared.ts';
import {
  type CountersTried,
  countRoutes,
  createCountedRequests,
  createUpstreamCounting,
} from './upstream-count.ts';

/** A response to "how many tokens is this?". */
interface TokenCount {
  /** In the form of the client's protocol. */
  readonly body: Buffer | string;
  /** No upstream counted; the number is the gateway's estimate. */
  readonly isEstimated: boolean;
}

/**
 * Answers requests to count tokens: asks the upstreams' counters, and estimates if there is none, or they fail. Counting is
 * free, so its row has no tokens; the upstream's number is in the response only.
 */
export function createCountResponder(parts: TextParts) {
  const askCounters = createUpstreamCounting(parts);

  /** Null: the client left before the count was there. */
  async function count(
    input: TextInput,
    preparedText: PreparedText,
    triedCounters: CountersTried,
  ): Promise<TokenCount | null> {
    const { protocol } = input;
    const { routes } = preparedText;
    const requests = createCountedRequests(parts, input, preparedText);
    await requests.requireAnswerable();
    const counters = countRoutes(routes, protocol);
    const countedTokens = await askCounters(input, preparedText, counters, requests, triedCounters);
    if (countedTokens === 'disconnected') return null;
    if (countedTokens !== null) return { body: countedTokens, isEstimated: false };

    // None of the counters responded. The records of the attempts say which were asked.
    triedCounters.sentRequest = null;
    const targets = routes.map((route): EstimateTarget => ({
      model: route.upstreamModel,
      protocol: upstreamProtocols(route, protocol)[0] ?? protocol,
    }));
    const isPassedOn = routes.some((route) => isNative(route, protocol));
    const outline = preparedText.large?.isRead
      ? await givingBack(preparedText, input, outlineLarge(preparedText.large, isPassedOn))
      : outlineOf(parts, input, preparedText, isPassedOn);
    const tokens =
      outline === null
        ? estimateUnread(preparedText, targets)
        : await parts.estimator.estimate(outline, targets);
    return { body: encodeTokenCount(protocol, tokens), isEstimated: true };
  }

  /** @throws GatewayError when nothing has been written to the client yet. */
  return async function answerCount(
    _parts: TextParts,
    exchange: Exchange<TextInput>,
    preparedText: PreparedText,
  ): Promise<void> {
    const { input } = exchange;
    const triedCounters: CountersTried = { attempts: [], sentRequest: null };
    let countedTokens;
    try {
      countedTokens = await count(input, preparedText, triedCounters);
    } catch (error) {
      throw await finishWithoutResponse(parts, exchange, error, triedCounters);
    }
    if (countedTokens === null)
      return finishDisconnected(parts, exchange, nothingUsed, triedCounters);
    await finishCompleted(parts, exchange, nothingUsed, triedCounters);
    writeJson(input.client, countedTokens.body, {
      ...responseHeaders(triedCounters.sentRequest),
      ...(countedTokens.isEstimated && { 'x-sluice-estimated': '1' }),
    });
  };
}

/**
 * Null for a request that the gateway cannot read. An upstream of the client's protocol may still understand it; a
 * request for a response is passed on unread in that case, so this is no error.
 * @throws GatewayError if a request for a response would be refused, too.
 */
function outlineOf(
  { codecs }: Pick<TextParts, 'codecs'>,
  input: TextInput,
  { request }: PreparedText,
  isPassedOn: boolean,
): Outline | null {
  try {
    return outlineRequest(codecs[input.protocol].decodeRequest(request));
  } catch (error) {
    return nullIfUnread(error, isPassedOn);
  }
}

async function outlineLarge(large: LargeBody, isPassedOn: boolean): Promise<Outline | null> {
  try {
    return await large.outline();
  } catch (error) {
    return nullIfUnread(error, isPassedOn);
  }
}

function nullIfUnread(error: unknown, isPassedOn: boolean): null {
  const isUnread = error instanceof GatewayError && error.errorName === 'invalid_value';
  if (isPassedOn && isUnread) return null;
  throw error;
}

function estimateUnread(preparedText: PreparedText, targets: readonly EstimateTarget[]): number {
  const factor = Math.max(1, ...targets.map((target) => familyOf(target).said));
  return Math.max(1, Math.ceil(inputTokensOf(preparedText) * factor));
}
