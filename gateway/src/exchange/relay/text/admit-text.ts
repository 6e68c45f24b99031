import {
  affordableOutput,
  type Hold,
  type CostLine,
  type PriceRates,
  type Reach,
  textBound,
} from '#billing/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import { carriesEnvelopes } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { familyOf } from '#estimation/index.ts';
import type { OutputCap, WireRequest } from '#protocols/index.ts';
import { conversationOf, isNative, startingAt } from '#routing/index.ts';
import { type UpstreamTraits, vendorOf } from '#vendors/index.ts';
import type { Exchange } from '../exchange.ts';
import { candidatesFor, namedRoutes } from '../admission/find-model.ts';
import type { TextInput, TextParts } from './input.ts';
import {
  type RequestBounds,
  type CheckedText,
  type CountedText,
  inputTokensOf,
  type PreparedText,
} from './prepared.ts';

/**
 * The routes that can serve the request, in the order to try them.
 * @throws GatewayError when there is none.
 */
export function findRoutes(
  parts: Pick<TextParts, 'affinity' | 'clock' | 'random' | 'capOutput'>,
  { input, hold }: Pick<Exchange<TextInput>, 'input' | 'hold'>,
  checkedText: CheckedText,
): PreparedText {
  const { resolvedModel, request, terms, large, facts, names } = checkedText;
  const { model } = resolvedModel;
  const routes = candidatesFor(parts, input, checkedText);
  const preparedText = {
    request,
    large,
    inputTokens: null,
    model,
    terms,
    routes,
    conversation: null,
    stateLocation: names?.stateLocation ?? null,
    unownedIds: names?.unownedIds ?? null,
    isSealed: null,
    bounds: requestBoundsOf(
      hold,
      input,
      { inputTokens: null, request, model, routes, terms },
      parts.capOutput && input.caller.capOutput,
    ),
  };
  const [only] = routes;
  const isDecided = routes.length === 1 && only!.channel.credentials.length < 2;
  if (isDecided) return preparedText;
  const speaks = (route: Route) => isNative(route, input.protocol);
  const isMixed = routes.some(speaks) && !routes.every(speaks);
  const isSealed = isMixed
    ? (facts?.isSealed ?? carriesEnvelopes(request.body, input.protocol))
    : null;
  const conversation =
    facts?.conversation ??
    conversationOf({
      keyId: input.caller.keyId,
      model: request.model,
      headers: input.headers,
      json: request.json,
    });
  const now = parts.clock.monotonic();
  // Without sealed reasoning in the history, the conversation's last channel comes first only if it needs no
  // conversion: a warm cache is not worth one.
  const ranksFirst = isSealed === false ? speaks : undefined;
  const preferredRoutes =
    preparedText.stateLocation === null
      ? parts.affinity.prefer(routes, conversation, now, ranksFirst)
      : startingAt(routes, preparedText.stateLocation.channel);
  return { ...preparedText, routes: preferredRoutes, conversation, isSealed };
}

/**
 * The routes whose upstreams compact conversations, in the same order. None gets a limit of output: compactions have
 * no member for it.
 * @throws GatewayError `invalid_value` when there is none. 404 would make clients take the gateway for one without the
 * protocol.
 */
export function findCompactingRoutes(
  parts: Parameters<typeof findRoutes>[0],
  exchange: Parameters<typeof findRoutes>[1],
  checkedText: CheckedText,
): PreparedText {
  const preparedText = findRoutes(parts, exchange, checkedText);
  const routes = preparedText.routes.filter(
    (route) => isNative(route, 'responses') && vendorOf(route.channel)?.compacts === true,
  );
  if (routes.length === 0) {
    const reason = 'compaction is not available for this model';
    throw new GatewayError('invalid_value', { values: { reason } });
  }
  return { ...preparedText, routes, bounds: { ...preparedText.bounds, cap: null } };
}

/** A response that is cut shorter is of no use. In tokens. */
const leastOutput = 256;
/** Tokens that an upstream adds to what it is sent: its own instructions, and the form of the messages. */
const addedInput = 4_096;

/**
 * Bounds of what a request can use. If it holds all that was left, its output limit is lowered to what that pays for
 * in addition to the estimated input, unless too little is left for a response.
 * @param mayCap the operator and the key allow it
 */
export function requestBoundsOf(
  hold: Hold | null,
  { body }: Pick<TextInput, 'body'>,
  countedText: CountedText & Pick<PreparedText, 'terms'>,
  mayCap: boolean,
): RequestBounds {
  const { images, unseen, hostedTools } = countedText.request.extent;
  const isTextAlone = images === 0 && !unseen && !hostedTools;
  const mostInput = isTextAlone ? body.length + addedInput : Infinity;
  return { cap: mayCap && hold?.isShort === true ? capOf(hold, countedText) : null, mostInput };
}

function capOf(hold: Hold, countedText: CountedText & Pick<PreparedText, 'terms'>): number | null {
  const { request, terms } = countedText;
  const tokens = affordableOutput(hold, inputTokensOf(countedText), {
    choices: request.choices,
    terms,
    reach: reachOf(request),
  });
  return tokens === null || tokens < leastOutput ? null : tokens;
}

/** The cap for the request to one upstream. @param tokens see `RequestBounds` */
export function outputCapOf(
  tokens: number,
  model: Model,
  { renamedMembers }: UpstreamTraits,
): OutputCap {
  return {
    tokens,
    usual: model.maxOutputTokens,
    chatMember: renamedMembers ? 'max_completion_tokens' : 'max_tokens',
  };
}

/** The most that a text request can use, for its hold. */
export function boundText(
  { input }: Pick<Exchange<TextInput>, 'input'>,
  checkedText: CheckedText,
  rates: PriceRates,
): readonly CostLine<bigint>[] {
  const { request, resolvedModel, terms } = checkedText;
  const { maxOutputTokens, choices, webSearches, extent } = request;
  return textBound(rates, resolvedModel.model, {
    bodyBytes: input.body.length,
    outputLimit: maxOutputTokens,
    choices,
    terms,
    ...(webSearches !== undefined && { webSearches }),
    extent: {
      ...extent,
      imageTokens: extent.images === 0 ? 0 : mostImageTokens(input, resolvedModel),
    },
    reach: reachOf(request),
  });
}

/** The kinds of tokens that a request can be charged for. What is not seen of its input may be anything. */
export function reachOf({
  extent,
  outputKinds,
}: Pick<WireRequest, 'extent' | 'outputKinds'>): Reach {
  const { images, unseen, hostedTools } = extent;
  return {
    inputImage: images > 0 || unseen || hostedTools,
    inputAudio: unseen,
    outputImage: outputKinds?.image ?? true,
    outputAudio: outputKinds?.audio ?? true,
  };
}

/**
 * The most tokens that one image takes at any model that may serve the request, by the models' names at the upstreams.
 */
function mostImageTokens(input: TextInput, resolvedModel: CheckedText['resolvedModel']): number {
  const { protocol } = input;
  const names = new Set(
    namedRoutes(input, resolvedModel).map(({ upstreamModel }) => upstreamModel),
  );
  if (names.size === 0) names.add(resolvedModel.model.id);
  return Math.max(...names.values().map((name) => familyOf({ model: name, protocol }).image.most));
}
