import { GatewayError } from '#errors/index.ts';
import { familyOf, outlineRequest, type EstimateTarget, type Outline } from '#estimation/index.ts';
import { encodeTokenCount } from '#protocols/index.ts';
import { upstreamProtocol } from '#routing/index.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { RelayParts } from '../parts.ts';
import type { LargeBody } from '../large-body.ts';
import { inputTokensOf, type Prepared } from '../prepare.ts';
import { createCountedRequests } from './counted-requests.ts';
import { counterWays } from './counter-ways.ts';
import { createCounterAsking } from './upstream-count.ts';

/** An answer to "how many tokens is this?". */
export interface TokenCount {
  /** In the client's shape. */
  readonly body: Buffer | string;
  /** No upstream counted; it is our own guess. */
  readonly estimated: boolean;
}

/** Counts by an upstream's counter or, when there is none or it fails, by an estimate of our own. */
export interface TokenCounting {
  /**
   * @returns null when the client has left.
   * @throws GatewayError when the fault is the client's own.
   */
  count(state: ExchangeState, prepared: Prepared): Promise<TokenCount | null>;
}

export function createTokenCounting(parts: RelayParts): TokenCounting {
  const askCounters = createCounterAsking(parts);
  return {
    async count(state, prepared) {
      const { protocol } = state.input;
      const { routes } = prepared;
      const requests = createCountedRequests(parts, state, prepared);
      await requests.requireAnswerable();
      const counted = await askCounters(state, prepared, counterWays(routes, protocol), requests);
      if (counted === 'left') return null;
      if (counted !== null) return { body: counted, estimated: false };

      // Whom the attempts asked stands in their records; nobody answered.
      state.channel = null;
      state.upstreamModel = null;
      state.rewrites = [];
      state.losses = [];
      const targets = routes.map(({ channel, upstreamModel }): EstimateTarget => ({
        model: upstreamModel,
        protocol: upstreamProtocol(channel, protocol) ?? protocol,
      }));
      const isPassedOn = routes.some(({ channel }) => channel.protocols.includes(protocol));
      const outline = prepared.large?.isRead
        ? await outlineLarge(prepared.large, isPassedOn)
        : outlineOf(parts, state, prepared, isPassedOn);
      const tokens =
        outline === null
          ? estimateUnread(prepared, targets)
          : await parts.estimator.estimate(outline, targets);
      return { body: encodeTokenCount(protocol, tokens), estimated: true };
    },
  };
}

/**
 * Null for what this gateway cannot read and an upstream of the client's protocol might: it is passed on unread when
 * an answer is asked for, so it is no error here.
 * @throws GatewayError for what would be refused there too.
 */
function outlineOf(
  { codecs }: RelayParts,
  { input }: ExchangeState,
  { request }: Prepared,
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

function estimateUnread(prepared: Prepared, targets: readonly EstimateTarget[]): number {
  const factor = Math.max(1, ...targets.map((target) => familyOf(target).said));
  return Math.max(1, Math.ceil(inputTokensOf(prepared) * factor));
}
