import type { Loss } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { carriesEnvelopes, withoutEnvelopes, type ConvertedRequest } from '#conversion/index.ts';
import type { PatchedRequest, PatchTarget, Protocol, WireRequest } from '#protocols/index.ts';
import { quirksFor, vendorOf } from '#vendors/index.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { givingBack, type LargeBody } from '../large-body.ts';
import type { RelayParts } from '../parts.ts';
import type { Prepared } from '../prepare.ts';
import { passedBetas, surchargesOf, type PassedBetas } from '../surcharges.ts';
import { betaHeader, channelHeaders } from './upstream-request.ts';

const noLosses: readonly Loss[] = Object.freeze([]);
/** Of a history that an upstream of another protocol wrote in part. */
const strippedLosses: readonly Loss[] = Object.freeze([
  Object.freeze({ what: 'reasoning.state', how: 'dropped' }),
]);

/** What one route is sent. */
export interface RouteRequest {
  readonly patched: PatchedRequest;
  /** In place of the client's betas; null: they pass as they are. */
  readonly betas: string | null;
}

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
): RouteRequest {
  const { input } = state;
  const { request } = prepared;
  const protocol = parts.protocols[input.protocol];
  const native = converted === null ? nativeRequest(protocol, prepared) : request;
  const sending = sendingOf(state, prepared, route, converted === null);
  const patched = converted ?? protocol.patchRequest(native, sending.target);
  noteRequest(state, route, patched, sending.betas, converted?.answerLosses ?? null);
  state.losses = converted?.losses ?? (native === request ? noLosses : strippedLosses);
  return { patched, betas: sending.betas?.value ?? null };
}

/**
 * The same for a request that threads have read, to a route that speaks the client's protocol.
 * @throws GatewayError, ClientGone
 */
export async function largeRequestFor(
  state: ExchangeState,
  prepared: Prepared,
  large: LargeBody,
  route: Route,
): Promise<RouteRequest> {
  const { target, betas } = sendingOf(state, prepared, route, true);
  const patched = await givingBack(prepared, state.input, large.patch(target));
  noteRequest(state, route, patched, betas, null);
  state.losses = patched.isStripped ? strippedLosses : noLosses;
  return { patched, betas: betas?.value ?? null };
}

function sendingOf(
  { input }: ExchangeState,
  { model }: Prepared,
  route: Route,
  isNative: boolean,
): { readonly target: PatchTarget; readonly betas: PassedBetas | null } {
  const betas = isNative
    ? passedBetas(input.headers[betaHeader], model, surchargesOf(route))
    : null;
  const headers = betas === null ? input.headers : { ...input.headers, [betaHeader]: betas.value };
  const target = {
    upstreamModel: route.upstreamModel,
    maxOutputTokens: model.maxOutputTokens,
    headers: { ...headers, ...channelHeaders(route.channel) },
    quirks: quirksFor(vendorOf(route.channel), input.protocol, route.upstreamModel),
  };
  return { target, betas };
}

function noteRequest(
  state: ExchangeState,
  route: Route,
  patched: PatchedRequest,
  betas: PassedBetas | null,
  answerLosses: ExchangeState['answerLosses'],
): void {
  state.channel = route.channel.name;
  state.upstreamModel = route.upstreamModel;
  state.surcharges = surchargesOf(route);
  state.rewrites = betas === null ? patched.rewrites : [...patched.rewrites, ...betas.dropped];
  state.answerLosses = answerLosses;
}

/**
 * The request for an upstream that speaks the client's protocol: the very same, unless its history holds reasoning
 * that other upstreams made and we sealed, which this one would refuse.
 */
function nativeRequest(protocol: Protocol, prepared: Prepared): WireRequest {
  const { request } = prepared;
  prepared.isSealed ??= carriesEnvelopes(request.body, protocol.name);
  if (!prepared.isSealed) return request;
  return withoutEnvelopes(protocol, request);
}
