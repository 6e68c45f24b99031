import { patchText, type PatchedBody } from '#body-work/index.ts';
import type { Loss } from '#canonical/index.ts';
import type { Channel, Route } from '#catalogue/index.ts';
import { carriesEnvelopes, type ConvertedRequest, type ReasoningPlace } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { ownerOf } from '#identity/index.ts';
import { type PatchedRequest, type PatchTarget, textFacts } from '#protocols/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import {
  type Cure,
  noSurcharges,
  quirksFor,
  traitsFor,
  type Vendor,
  vendorOf,
} from '#vendors/index.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  channelTarget,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import { sentTo } from '../ending/record.ts';
import { outputCapOf } from './admit-text.ts';
import type { TextInput, TextParts, TextSent } from './input.ts';
import { givingBack } from './large-body.ts';
import type { PreparedText } from './prepared.ts';
import { passedBetas } from './surcharges.ts';

/** What is edited in the request for one route because its upstream has refused it. */
export interface RouteEdits {
  /** How many carriers of reasoning state are left out, the oldest first. */
  readonly withoutState: number;
  /** In addition to those of the vendor. */
  readonly quirks: readonly QuirkCure[];
}

type QuirkCure = Exclude<Cure, { readonly kind: 'without-state' }>;

export const noEdits: RouteEdits = Object.freeze({ withoutState: 0, quirks: Object.freeze([]) });

/** Quirks that cured a request, by upstream model: a deployment's name need not tell which model it serves. */
const learnedByChannel = new WeakMap<Channel, Map<string, readonly QuirkCure[]>>();

/** The quirks that the route's upstream has shown. They are forgotten with the snapshot of the channel. */
export function learnedQuirks({ channel, upstreamModel }: Route): readonly QuirkCure[] {
  return learnedByChannel.get(channel)?.get(upstreamModel) ?? noEdits.quirks;
}

export function learnQuirk(route: Route, quirk: QuirkCure): void {
  const { channel, upstreamModel } = route;
  const knownQuirks = learnedQuirks(route);
  if (knownQuirks.includes(quirk)) return;
  const ofChannel = learnedByChannel.get(channel) ?? new Map<string, readonly QuirkCure[]>();
  learnedByChannel.set(channel, ofChannel.set(upstreamModel, [...knownQuirks, quirk]));
}

/** The edits together with those that cure the refusal. */
export function withCure({ withoutState, quirks }: RouteEdits, cure: Cure | undefined): RouteEdits {
  if (cure === undefined) return { withoutState, quirks };
  if ('kind' in cure) return { withoutState: Infinity, quirks };
  return { withoutState, quirks: [...quirks, cure] };
}

/** The header that lists beta features; some of them cost extra. */
export const betaHeader = 'anthropic-beta';

/** Only for upstreams of the client's protocol; other protocols have their own versions and betas. */
const allowedInSameProtocol: readonly string[] = [
  ...allowedAnywhere,
  'anthropic-version',
  betaHeader,
  'openai-beta',
];

const noLosses: readonly Loss[] = Object.freeze([]);
/** The loss of a history that an upstream of another protocol wrote in part. */
const strippedLosses: readonly Loss[] = Object.freeze([
  Object.freeze({ what: 'reasoning.state', how: 'dropped' }),
]);

/** A text request in the form of one route. */
export interface TextRequest {
  readonly sentRequest: TextSent;
  readonly route: Route;
  readonly vendor: Vendor;
  /** Null when the channel speaks the client's protocol. */
  readonly convertedRequest: ConvertedRequest | null;
  readonly patchedRequest: PatchedRequest;
  /** In place of the client's betas; null: they pass as they are. */
  readonly betas: string | null;
  /** The reasoning in the response is remembered for this conversation; null: it is not. */
  readonly place: ReasoningPlace | null;
}

/**
 * Makes the request for one route. A promise where threads have read the body, or reasoning of earlier turns is
 * recalled.
 * @param convertedRequest null for a route of the client's protocol.
 * @throws GatewayError for a request that no upstream of the client's protocol takes, ClientGone; or rejects with one.
 */
export function requestFor(
  parts: Pick<TextParts, 'protocols' | 'converter' | 'timeouts'>,
  input: TextInput,
  preparedText: PreparedText,
  route: Route,
  convertedRequest: ConvertedRequest | null,
  edits: RouteEdits = noEdits,
): TextRequest | Promise<TextRequest> {
  const vendor = vendorOf(route.channel);
  if (vendor === undefined) throw new GatewayError('internal_error');
  const charging = {
    surcharges: vendor.surcharges ?? noSurcharges,
    hidesReasoningInTotal: vendor.hidesReasoningInTotal === true,
  };
  if (convertedRequest !== null) {
    const { rewrites, losses, responseLosses } = convertedRequest;
    const sentRequest = { ...sentTo(route), rewrites, losses, responseLosses, ...charging };
    return {
      sentRequest,
      route,
      vendor,
      convertedRequest,
      patchedRequest: convertedRequest,
      betas: null,
      place: null,
    };
  }
  const betas = passedBetas(input.headers[betaHeader], preparedText.model, charging.surcharges);
  const headers = {
    ...input.headers,
    ...(betas !== null && { [betaHeader]: betas.value }),
    ...channelTarget(route.channel, parts.timeouts).headers,
  };
  const target = nativeTarget(input, preparedText, route, vendor, headers, edits);
  const request = ({ patchedRequest, isStripped, place }: PatchedBody): TextRequest => {
    const isWhole = !isStripped && patchedRequest.leftOutStates === undefined;
    const rewrites =
      betas === null ? patchedRequest.rewrites : [...patchedRequest.rewrites, ...betas.dropped];
    const losses = isWhole ? noLosses : strippedLosses;
    const sentRequest = { ...sentTo(route), rewrites, losses, ...charging };
    return {
      sentRequest,
      route,
      vendor,
      convertedRequest,
      patchedRequest,
      betas: betas?.value ?? null,
      place,
    };
  };
  const patching = patchNative(parts, input, preparedText, route, target);
  return patching instanceof Promise ? patching.then(request) : request(patching);
}

/**
 * The client's own request, unless its history holds reasoning that the gateway sealed for another upstream: this one
 * would refuse it. A chat upstream that requires the reasoning of earlier turns gets what its client has left out of
 * it, as far as it is remembered.
 */
function patchNative(
  { protocols, converter }: Pick<TextParts, 'protocols' | 'converter'>,
  input: TextInput,
  preparedText: PreparedText,
  { channel, upstreamModel }: Route,
  target: PatchTarget,
): PatchedBody | Promise<PatchedBody> {
  const { large, request } = preparedText;
  // Whose reasoning state the upstream of the route makes.
  const maker = { provider: channel.provider, model: upstreamModel, channel: channel.id };
  const recall = target.echo?.rule === 'require' ? { owner: ownerOf(input.caller), maker } : null;
  if (large?.isRead)
    return givingBack(preparedText, input, large.patch({ target, recalled: recall }));
  const protocol = protocols[input.protocol];
  preparedText.isSealed ??= carriesEnvelopes(request.body, protocol.name);
  return patchText(converter, protocol, request, preparedText.isSealed, {
    target,
    recalled: recall,
  });
}

function nativeTarget(
  { protocol, operation }: TextInput,
  preparedText: PreparedText,
  { channel, upstreamModel }: Route,
  vendor: Vendor,
  headers: NonNullable<PatchTarget['headers']>,
  { withoutState, quirks: learnedCures }: RouteEdits,
): PatchTarget {
  const { model, bounds } = preparedText;
  const traits = traitsFor(vendor, upstreamModel, channel.baseUrl);
  // What becomes of the reasoning in the history at a chat upstream. Otherwise it stays as a chat client sent it.
  const rule = model.echoReasoning ?? traits.reasoningEcho;
  const isChat = protocol === 'chat' && operation === 'generate';
  const quirks = quirksFor(vendor, protocol, upstreamModel);
  return {
    upstreamModel,
    maxOutputTokens: model.maxOutputTokens,
    headers,
    quirks: learnedCures.length === 0 ? quirks : [...quirks, ...learnedCures],
    ...(bounds.cap !== null && { outputCap: outputCapOf(bounds.cap, model, traits) }),
    ...(isChat && (rule === 'require' || rule === 'strip') && { echo: { rule } }),
    ...(withoutState > 0 && { withoutState }),
  };
}

/**
 * The whole request to the upstream, with those of the client's headers that it may get.
 * @param request is not kept.
 */
export function upstreamRequest(
  { timeouts }: Pick<TextParts, 'timeouts'>,
  input: Pick<TextInput, 'headers' | 'operation' | 'protocol'>,
  request: Pick<TextRequest, 'route' | 'vendor' | 'betas'> & {
    readonly convertedRequest: Pick<ConvertedRequest, 'protocol'> | null;
    readonly patchedRequest: Pick<PatchedRequest, 'body'>;
  },
  secret: string | null,
  stream: boolean,
): UpstreamRequest {
  const { route, vendor, convertedRequest, patchedRequest, betas } = request;
  const { headers, operation } = input;
  const protocol = convertedRequest?.protocol ?? input.protocol;
  const isSame = protocol === input.protocol;
  const passedHeaders = forwardedHeaders(headers, isSame ? allowedInSameProtocol : allowedAnywhere);
  if (betas === '') delete passedHeaders[betaHeader];
  else if (betas !== null) passedHeaders[betaHeader] = betas;
  const { requiredHeaders } = textFacts[protocol];
  for (const name in requiredHeaders) passedHeaders[name] ??= requiredHeaders[name]!;
  return buildUpstreamRequest({
    operation,
    route,
    vendor,
    secret,
    protocol,
    body: patchedRequest.body,
    clientHeaders: headers,
    forwarded: passedHeaders,
    stream,
    timeouts,
  });
}
