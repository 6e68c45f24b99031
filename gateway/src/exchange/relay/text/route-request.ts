import type { Loss } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import {
  carriesEnvelopes,
  type ConvertedRequest,
  type Converter,
  type ReasoningPlace,
  type StateMaker,
  withoutEnvelopes,
} from '#conversion/index.ts';
import { ownerOf } from '#identity/index.ts';
import type {
  PatchedRequest,
  PatchTarget,
  Protocol,
  ReasoningEcho,
  WireRequest,
} from '#protocols/index.ts';
import { quirksFor, traitsFor, type Vendor, vendorOf } from '#vendors/index.ts';
import { channelHeaders } from '../attempts/upstream-request.ts';
import { surchargesOf } from '../exchange/offered-terms.ts';
import { outputCapOf } from './asked-bounds.ts';
import { betaHeader } from './forwarded-headers.ts';
import type { TextInput, TextSent } from './input.ts';
import { givingBack, type LargeBody } from './large-body.ts';
import type { PreparedText } from './prepared.ts';
import { noEdits, type RouteEdits } from './route-edits.ts';
import { passedBetas, type PassedBetas } from './surcharges.ts';

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
  /** The reasoning in the response is remembered for this conversation; null: it is not. */
  readonly place: ReasoningPlace | null;
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
  edits: RouteEdits = noEdits,
): RouteRequest {
  if (converted !== null) {
    const { losses, responseLosses } = converted;
    return routeRequest(route, converted, null, losses, responseLosses);
  }
  const native = nativeRequest(protocol, prepared);
  const { target, betas } = nativeTarget(input, prepared, route, edits);
  return patchedRequest(protocol, prepared, native, route, target, betas);
}

/**
 * Builds the request for a chat upstream that requires the reasoning of earlier turns, with what its client has left out
 * of it as far as it is remembered.
 * @throws GatewayError as `requestFor` does.
 */
export async function echoingRequestFor(
  protocol: Protocol,
  converter: Pick<Converter, 'recallReasoning'>,
  input: TextInput,
  prepared: PreparedText,
  route: Route,
  edits: RouteEdits,
): Promise<RouteRequest> {
  const native = nativeRequest(protocol, prepared);
  const { target, betas } = nativeTarget(input, prepared, route, edits);
  const { caller } = input;
  const recalled = await converter.recallReasoning(native, ownerOf(caller), makerOf(route));
  const { texts, place } = recalled;
  const echoing = { ...target, echo: { rule: 'require', texts } } as const;
  return { ...patchedRequest(protocol, prepared, native, route, echoing, betas), place };
}

function patchedRequest(
  protocol: Protocol,
  { request }: PreparedText,
  native: WireRequest,
  route: Route,
  target: PatchTarget,
  betas: PassedBetas | null,
): RouteRequest {
  const patched = protocol.patchRequest(native, target);
  const isWhole = native === request && patched.leftOutStates === undefined;
  return routeRequest(route, patched, betas, isWhole ? noLosses : strippedLosses, null);
}

/** What becomes of the reasoning in the history at a chat upstream; null: it stays as a chat client sent it. */
export function echoRuleOf(
  { protocol, operation }: TextInput,
  { model }: PreparedText,
  { channel, upstreamModel }: Route,
): ReasoningEcho['rule'] | null {
  if (protocol !== 'chat' || operation !== 'generate') return null;
  const { reasoningEcho } = traitsFor(vendorOf(channel), upstreamModel, channel.baseUrl);
  const rule = model.echoReasoning ?? reasoningEcho;
  return rule === 'require' || rule === 'strip' ? rule : null;
}

/** Whose reasoning state the upstream of the route makes. */
export function makerOf({ channel, upstreamModel }: Route): StateMaker {
  return { provider: channel.provider, model: upstreamModel, channel: channel.id };
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
  edits: RouteEdits = noEdits,
): Promise<RouteRequest> {
  const { target, betas } = nativeTarget(input, prepared, route, edits);
  const maker = target.echo?.rule === 'require' ? makerOf(route) : null;
  const patched = await givingBack(prepared, input, large.patch(target, maker));
  const isStripped = patched.isStripped || patched.leftOutStates !== undefined;
  const losses = isStripped ? strippedLosses : noLosses;
  return { ...routeRequest(route, patched, betas, losses, null), place: patched.place };
}

function nativeTarget(
  input: TextInput,
  prepared: PreparedText,
  route: Route,
  { withoutState, quirks: shown }: RouteEdits,
): { readonly target: PatchTarget; readonly betas: PassedBetas | null } {
  const { model } = prepared;
  const betas = passedBetas(input.headers[betaHeader], model, surchargesOf(route));
  const vendor = vendorOf(route.channel);
  const outputCap = outputCapOf(prepared, vendor, route);
  const rule = echoRuleOf(input, prepared, route);
  const headers = betas === null ? input.headers : { ...input.headers, [betaHeader]: betas.value };
  const quirks = quirksFor(vendor, input.protocol, route.upstreamModel);
  const target = {
    upstreamModel: route.upstreamModel,
    maxOutputTokens: model.maxOutputTokens,
    headers: { ...headers, ...channelHeaders(route.channel) },
    quirks: shown.length === 0 ? quirks : [...quirks, ...shown],
    ...(outputCap !== undefined && { outputCap }),
    ...(rule !== null && { echo: { rule } }),
    ...(withoutState > 0 && { withoutState }),
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
  return { sent, patched, betas: betas?.value ?? null, place: null };
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
