import type { Loss } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { carriesEnvelopes, withoutEnvelopes, type ConvertedRequest } from '#conversion/index.ts';
import type { PatchedRequest, PatchTarget, Protocol, WireRequest } from '#protocols/index.ts';
import { quirksFor, vendorOf, type Vendor } from '#vendors/index.ts';
import { channelHeaders } from '../attempts/upstream-request.ts';
import { betaHeader } from './forwarded-headers.ts';
import type { TextInput } from './input.ts';
import { givingBack, type LargeBody } from './large-body.ts';
import type { PreparedText } from './prepared.ts';
import { outputCapOf } from './asked-bounds.ts';
import { surchargesOf } from '../exchange/offered-terms.ts';
import { passedBetas, type PassedBetas } from './surcharges.ts';
import type { TextSent } from './text-sent.ts';

const noLosses: readonly Loss[] = Object.freeze([]);
/** The loss of a history that an upstream of another protocol wrote in part. */
const strippedLosses: readonly Loss[] = Object.freeze([
  Object.freeze({ what: 'reasoning.state', how: 'dropped' }),
]);

/** The request for one route. */
export interface RouteRequest {
  readonly sent: TextSent;
  readonly patched: PatchedRequest;
  /** In place of the client's betas; null: they pass as they are. */
  readonly betas: string | null;
}

/** The request for one route, with the route. */
export interface TextRequest extends RouteRequest {
  readonly route: Route;
  readonly vendor: Vendor;
  /** Null when the channel speaks the client's protocol. */
  readonly converted: ConvertedRequest | null;
}

/**
 * Builds the request for one route.
 * @param converted null for a route of the client's protocol.
 * @throws GatewayError for a request that no upstream of the client's protocol takes.
 */
export function requestFor(
  protocol: Protocol,
  input: TextInput,
  prepared: PreparedText,
  route: Route,
  converted: ConvertedRequest | null,
): RouteRequest {
  const { request } = prepared;
  if (converted !== null) {
    const { losses, responseLosses } = converted;
    return routeRequest(route, converted, null, losses, responseLosses);
  }
  const native = nativeRequest(protocol, prepared);
  const { target, betas } = nativeTarget(input, prepared, route);
  const patched = protocol.patchRequest(native, target);
  return routeRequest(route, patched, betas, native === request ? noLosses : strippedLosses, null);
}

/**
 * Builds the request for one route of the client's protocol, if threads have read the body.
 * @throws GatewayError, ClientGone
 */
export async function largeRequestFor(
  input: TextInput,
  prepared: PreparedText,
  large: LargeBody,
  route: Route,
): Promise<RouteRequest> {
  const { target, betas } = nativeTarget(input, prepared, route);
  const patched = await givingBack(prepared, input, large.patch(target));
  return routeRequest(route, patched, betas, patched.isStripped ? strippedLosses : noLosses, null);
}

function nativeTarget(
  input: TextInput,
  prepared: PreparedText,
  route: Route,
): { readonly target: PatchTarget; readonly betas: PassedBetas | null } {
  const { model } = prepared;
  const betas = passedBetas(input.headers[betaHeader], model, surchargesOf(route));
  const vendor = vendorOf(route.channel);
  const outputCap = outputCapOf(prepared, vendor, route);
  const headers = betas === null ? input.headers : { ...input.headers, [betaHeader]: betas.value };
  const target = {
    upstreamModel: route.upstreamModel,
    maxOutputTokens: model.maxOutputTokens,
    headers: { ...headers, ...channelHeaders(route.channel) },
    quirks: quirksFor(vendor, input.protocol, route.upstreamModel),
    ...(outputCap !== undefined && { outputCap }),
  };
  return { target, betas };
}

function routeRequest(
  route: Route,
  patched: PatchedRequest,
  betas: PassedBetas | null,
  losses: readonly Loss[],
  responseLosses: TextSent['responseLosses'],
): RouteRequest {
  const sent = {
    channel: route.channel.name,
    upstreamModel: route.upstreamModel,
    rewrites: betas === null ? patched.rewrites : [...patched.rewrites, ...betas.dropped],
    losses,
    responseLosses,
    surcharges: surchargesOf(route),
    hidesReasoningInTotal: vendorOf(route.channel)?.hidesReasoningInTotal === true,
    upstreamState: null,
    ttftMs: null,
  };
  return { sent, patched, betas: betas?.value ?? null };
}

/**
 * The request for an upstream of the client's protocol. It is the client's own, unless its history holds reasoning that
 * the gateway sealed for another upstream: this one would refuse it.
 */
function nativeRequest(protocol: Protocol, prepared: PreparedText): WireRequest {
  const { request } = prepared;
  prepared.isSealed ??= carriesEnvelopes(request.body, protocol.name);
  if (!prepared.isSealed) return request;
  return withoutEnvelopes(protocol, request);
}
