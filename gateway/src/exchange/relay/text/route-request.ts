import { patchText, type PatchedBody } from '#body-work/index.ts';
import type { Loss } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import {
  carriesEnvelopes,
  type ConvertedRequest,
  type ReasoningPlace,
  type StateMaker,
} from '#conversion/index.ts';
import { ownerOf } from '#identity/index.ts';
import type { PatchedRequest, PatchTarget, ReasoningEcho } from '#protocols/index.ts';
import { quirksFor, traitsFor, type Vendor, vendorOf } from '#vendors/index.ts';
import { channelHeaders } from '../attempts/upstream-request.ts';
import { surchargesOf } from '../exchange/offered-terms.ts';
import { outputCapOf } from './asked-bounds.ts';
import { betaHeader } from './forwarded-headers.ts';
import type { TextInput, TextParts, TextSent } from './input.ts';
import { givingBack } from './large-body.ts';
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
 * Builds the request for one route. A promise where threads have read the body, or reasoning of earlier turns is recalled.
 * @param converted null for a route of the client's protocol.
 * @throws GatewayError for a request that no upstream of the client's protocol takes, ClientGone; or rejects with one.
 */
export function requestFor(
  parts: Pick<TextParts, 'protocols' | 'converter'>,
  input: TextInput,
  prepared: PreparedText,
  route: Route,
  converted: ConvertedRequest | null,
  edits: RouteEdits = noEdits,
): RouteRequest | Promise<RouteRequest> {
  if (converted !== null) {
    const { losses, responseLosses } = converted;
    return routeRequest(route, converted, null, losses, responseLosses);
  }
  const { target, betas } = nativeTarget(input, prepared, route, edits);
  const patching = patchNative(parts, input, prepared, route, target);
  const request = ({ patched, isStripped, place }: PatchedBody): RouteRequest => {
    const isWhole = !isStripped && patched.leftOutStates === undefined;
    const losses = isWhole ? noLosses : strippedLosses;
    return routeRequest(route, patched, betas, losses, null, place);
  };
  return patching instanceof Promise ? patching.then(request) : request(patching);
}

/**
 * The client's own request, unless its history holds reasoning that the gateway sealed for another upstream: this one would
 * refuse it. A chat upstream that requires the reasoning of earlier turns gets what its client has left out of it, as far as
 * it is remembered.
 */
function patchNative(
  { protocols, converter }: Pick<TextParts, 'protocols' | 'converter'>,
  input: TextInput,
  prepared: PreparedText,
  route: Route,
  target: PatchTarget,
): PatchedBody | Promise<PatchedBody> {
  const { large, request } = prepared;
  const isRecalled = target.echo?.rule === 'require';
  const recalled = isRecalled ? { owner: ownerOf(input.caller), maker: makerOf(route) } : null;
  if (large?.isRead) return givingBack(prepared, input, large.patch({ target, recalled }));
  const protocol = protocols[input.protocol];
  prepared.isSealed ??= carriesEnvelopes(request.body, protocol.name);
  return patchText(converter, protocol, request, prepared.isSealed, { target, recalled });
}

/** What becomes of the reasoning in the history at a chat upstream; null: it stays as a chat client sent it. */
function echoRuleOf(
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
function makerOf({ channel, upstreamModel }: Route): StateMaker {
  return { provider: channel.provider, model: upstreamModel, channel: channel.id };
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
  place: ReasoningPlace | null = null,
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
  return { sent, patched, betas: betas?.value ?? null, place };
}
