import { GatewayError } from '#errors/index.ts';
import { type EstimateTarget, familyOf, type Outline, outlineRequest } from '#estimation/index.ts';
import { encodeTokenCount } from '#protocols/index.ts';
import { isNative, upstreamProtocols } from '#routing/index.ts';
import type { Unanswered } from '../../attempts/outcome.ts';
import { type Exchange, writeJson } from '../../exchange/exchange.ts';
import {
  finishCompleted,
  finishDisconnected,
  finishWithoutResponse,
} from '../../exchange/finish.ts';
import { nothingUsed, responseHeaders, type Tried } from '../../exchange/record.ts';
import type { TextInput, TextParts, TextSent } from '../input.ts';
import type { LargeBody } from '../large-body.ts';
import { inputTokensOf, type PreparedText } from '../prepared.ts';
import {
  type CountersTried,
  countRoutes,
  createCountedRequests,
  createCounterAsking,
} from './upstream-count.ts';

/** The outcome of counting a request's tokens. */
export interface Counting extends Tried<TextSent> {
  readonly outcome: TokenCount | DisconnectedCount | Unanswered;
}

/** A response to "how many tokens is this?". */
export interface TokenCount {
  readonly kind: 'counted';
  /** In the form of the client's protocol. */
  readonly body: Buffer | string;
  /** No upstream counted; the number is the gateway's estimate. */
  readonly estimated: boolean;
}

/** The client left before the count was there. */
export interface DisconnectedCount {
  readonly kind: 'disconnected';
}

/** Asks the upstreams' counters. If there is none, or they fail, it estimates. */
export interface TokenCounting {
  /** Never rejects. */
  count(input: TextInput, prepared: PreparedText): Promise<Counting>;
}

export function createTokenCounting(parts: TextParts): TokenCounting {
  const askCounters = createCounterAsking(parts);

  async function count(
    input: TextInput,
    prepared: PreparedText,
    tried: CountersTried,
  ): Promise<TokenCount | DisconnectedCount> {
    const { protocol } = input;
    const { routes } = prepared;
    const requests = createCountedRequests(parts, input, prepared);
    await requests.requireAnswerable();
    const counters = countRoutes(routes, protocol);
    const counted = await askCounters(input, prepared, counters, requests, tried);
    if (counted === 'disconnected') return { kind: 'disconnected' };
    if (counted !== null) return { kind: 'counted', body: counted, estimated: false };

    // None of the counters responded. The records of the attempts say which were asked.
    tried.sent = null;
    const targets = routes.map((route): EstimateTarget => ({
      model: route.upstreamModel,
      protocol: upstreamProtocols(route, protocol)[0] ?? protocol,
    }));
    const isPassedOn = routes.some((route) => isNative(route, protocol));
    const outline = prepared.large?.isRead
      ? await outlineLarge(prepared.large, isPassedOn)
      : outlineOf(parts, input, prepared, isPassedOn);
    const tokens =
      outline === null
        ? estimateUnread(prepared, targets)
        : await parts.estimator.estimate(outline, targets);
    return { kind: 'counted', body: encodeTokenCount(protocol, tokens), estimated: true };
  }

  return {
    async count(input, prepared) {
      const tried: CountersTried = { attempts: [], sent: null };
      try {
        return { outcome: await count(input, prepared, tried), ...tried };
      } catch (error) {
        return { outcome: { kind: 'unanswered', error }, ...tried };
      }
    },
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

function estimateUnread(prepared: PreparedText, targets: readonly EstimateTarget[]): number {
  const factor = Math.max(1, ...targets.map((target) => familyOf(target).said));
  return Math.max(1, Math.ceil(inputTokensOf(prepared) * factor));
}

/**
 * Answers a request to count tokens. Counting is free, so its row has no tokens; the upstream's number is in the
 * response only.
 * @throws GatewayError when nothing has been written to the client yet.
 */
export async function answerCount(
  parts: TextParts,
  exchange: Exchange<TextInput>,
  prepared: PreparedText,
  counting: TokenCounting,
): Promise<void> {
  const { client } = exchange.input;
  const counted = await counting.count(exchange.input, prepared);
  const { outcome, sent } = counted;
  switch (outcome.kind) {
    case 'unanswered':
      throw await finishWithoutResponse(parts, exchange, outcome.error, counted);
    case 'disconnected':
      return finishDisconnected(parts, exchange, nothingUsed, counted);
    case 'counted':
  }
  const { body, estimated } = outcome;
  await finishCompleted(parts, exchange, nothingUsed, counted);
  writeJson(client, body, {
    ...responseHeaders(sent),
    ...(estimated && { 'x-sluice-estimated': '1' }),
  });
}
