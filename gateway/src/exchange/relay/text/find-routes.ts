import type { Route } from '#catalogue/index.ts';
import { carriesEnvelopes } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { conversationOf, findCandidates, isNative, startingAt } from '#routing/index.ts';
import { vendorOf } from '#vendors/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { routeQueryOf } from '../exchange/find-model.ts';
import { withoutRefusing } from '../exchange/state/authorize-names.ts';
import { askedBoundsOf } from './asked-bounds.ts';
import type { TextInput, TextParts } from './input.ts';
import type { CheckedText, PreparedText } from './prepared.ts';

/**
 * The routes that can serve the request, in the order to try them.
 * @throws GatewayError when there is none.
 */
export function findRoutes(
  parts: Pick<TextParts, 'affinity' | 'clock' | 'random' | 'capOutput'>,
  { input, hold }: Pick<Exchange<TextInput>, 'input' | 'hold'>,
  checked: CheckedText,
): PreparedText {
  const { resolved, request, terms, large, facts, names } = checked;
  const { model, snapshot } = resolved;
  const found = findCandidates(snapshot, routeQueryOf(input, resolved), parts.random);
  const routes = withoutRefusing(found, names);
  const prepared = {
    request,
    large,
    inputTokens: null,
    model,
    terms,
    routes,
    conversation: null,
    home: names?.home ?? null,
    strange: names?.strange ?? null,
    isSealed: null,
    bounds: askedBoundsOf(
      hold,
      input,
      { inputTokens: null, request, model, routes, terms },
      parts.capOutput && input.caller.capOutput,
    ),
  };
  const [only] = routes;
  const isDecided = routes.length === 1 && only!.channel.credentials.length < 2;
  if (isDecided) return prepared;
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
  const preferred =
    prepared.home === null
      ? parts.affinity.prefer(routes, conversation, now, ranksFirst)
      : startingAt(routes, prepared.home.channel);
  return { ...prepared, routes: preferred, conversation, isSealed };
}

/**
 * The routes whose upstreams compact conversations, in the same order. None gets a limit of output: compactions have
 * no member for it.
 * @throws GatewayError `invalid_value` when there is none. 404 would make clients take the gateway for one without the
 * protocol.
 */
export function compactingRoutes(prepared: PreparedText): PreparedText {
  const routes = prepared.routes.filter(
    (route) => isNative(route, 'responses') && vendorOf(route.channel)?.compacts === true,
  );
  if (routes.length === 0) {
    const reason = 'compaction is not available for this model';
    throw new GatewayError('invalid_value', { values: { reason } });
  }
  return { ...prepared, routes, bounds: { ...prepared.bounds, cap: null } };
}
