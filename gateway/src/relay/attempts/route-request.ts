import type { Loss } from '../../canonical/index.ts';
import type { Route } from '../../catalogue/index.ts';
import { carriesEnvelopes, stripEnvelopes, type ConvertedRequest } from '../../conversion/index.ts';
import type { PatchedRequest, Protocol, WireRequest } from '../../protocols/index.ts';
import type { ExchangeState } from '../exchange-state.ts';
import type { RelayParts } from '../parts.ts';
import type { Prepared } from '../prepare.ts';
import { channelHeaders } from './upstream-request.ts';

const noLosses: readonly Loss[] = Object.freeze([]);
/** Of a history that an upstream of another protocol wrote in part. */
const strippedLosses: readonly Loss[] = Object.freeze([
  Object.freeze({ what: 'reasoning.state', how: 'dropped' }),
]);

/**
 * What one route is sent. Whom it goes to, and what was changed for it, is noted for the usage row.
 * @param converted null for a route that speaks the client's protocol.
 */
export function requestFor(
  parts: RelayParts,
  state: ExchangeState,
  prepared: Prepared,
  route: Route,
  converted: ConvertedRequest | null,
): PatchedRequest {
  const { input } = state;
  const { request, model } = prepared;
  const protocol = parts.protocols[input.protocol];
  const native = converted === null ? nativeRequest(protocol, prepared) : request;
  const patched =
    converted ??
    protocol.patchRequest(native, {
      upstreamModel: route.upstreamModel,
      maxOutputTokens: model.maxOutputTokens,
      headers: { ...input.headers, ...channelHeaders(route.channel) },
    });
  state.channel = route.channel.name;
  state.upstreamModel = route.upstreamModel;
  state.rewrites = patched.rewrites;
  state.answerLosses = converted?.answerLosses ?? null;
  state.losses = converted?.losses ?? (native === request ? noLosses : strippedLosses);
  return patched;
}

/**
 * The request for an upstream that speaks the client's protocol: the very same, unless its history holds reasoning
 * that other upstreams made and we sealed, which this one would refuse.
 */
function nativeRequest(protocol: Protocol, prepared: Prepared): WireRequest {
  const { request } = prepared;
  prepared.isSealed ??= carriesEnvelopes(request.body, protocol.name);
  if (!prepared.isSealed) return request;
  const body = Buffer.from(JSON.stringify(stripEnvelopes(request.json)));
  return protocol.readRequest(protocol.openRequest(body, request.path));
}
