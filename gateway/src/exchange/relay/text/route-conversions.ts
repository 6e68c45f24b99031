import type { TextProtocolName } from '#canonical/index.ts';
import type { Channel, Route } from '#catalogue/index.ts';
import type { DeclaredPrice } from '#config/index.ts';
import {
  type Conversion,
  type ConversionTarget,
  type ConvertedRequest,
  fetchWanted,
  type FoundMedia,
  MediaWanted,
  type WantedMedia,
} from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { ownerOf } from '#identity/index.ts';
import { upstreamProtocols } from '#routing/index.ts';
import { quirksFor, traitsFor, vendorOf } from '#vendors/index.ts';
import { askedMedia, fetchingMedia } from '../attempts/fetch-media.ts';
import { outputCapOf } from './admit-text.ts';
import type { TextInput, TextParts } from './input.ts';
import { enlargedBody, givingBack, type LargeBody } from './large-body.ts';
import type { PreparedText } from './prepared.ts';
import { noEdits, type RouteEdits } from './route-request.ts';

/** What converting a request needs. */
export type ConvertingParts = Pick<
  TextParts,
  'converter' | 'fetchMedia' | 'codecs' | 'bodies' | 'ticker'
>;

/** The request converted for each route of another protocol, when it is the route's turn. */
export class RouteConversions {
  /** By route, as far as it has been converted; none for a route of the client's protocol. */
  readonly convertedRequests = new Map<Route, ConvertedRequest>();
  /**
   * The media of the request that some of its upstreams take only as bytes; fetched once for all of them. Empty while a
   * thread has them.
   */
  found: FoundMedia = new Map();
  readonly #parts: ConvertingParts;
  readonly #input: TextInput;
  readonly #preparedText: PreparedText;
  /** Of all media that were fetched. */
  #mediaBytes = 0;
  #conversion: Conversion | null = null;

  constructor(parts: ConvertingParts, input: TextInput, preparedText: PreparedText) {
    this.#parts = parts;
    this.#input = input;
    this.#preparedText = preparedText;
  }

  /** Converts the request for the route. Resolves to the reason why the route cannot take it, or to null. */
  async convert(route: Route, edits: RouteEdits = noEdits): Promise<GatewayError | null> {
    let refusal: GatewayError | null = null;
    for (const protocol of upstreamProtocols(route, this.#input.protocol)) {
      try {
        const target = targetOf(route, protocol, this.#preparedText, edits);
        this.convertedRequests.set(route, await this.#convertTo(target));
        return null;
      } catch (error) {
        // The body is lost, so no other route can be asked either.
        if (!(error instanceof GatewayError) || isBodyGone(this.#preparedText)) throw error;
        // What the preferred protocol cannot carry, another one of the channel may.
        refusal ??= error;
      }
    }
    return refusal ?? new GatewayError('internal_error');
  }

  /** Releases all conversions, because no other route is going to be asked. */
  forget(): void {
    this.#conversion = null;
    this.convertedRequests.clear();
    this.found = new Map();
  }

  async #convertTo(target: ConversionTarget): Promise<ConvertedRequest> {
    this.#conversion ??= openConversion(this.#parts, this.#input, this.#preparedText);
    try {
      return await this.#convert(this.#conversion, target);
    } catch (error) {
      if (!(error instanceof MediaWanted)) throw error;
      // No thread waits for it.
      await this.#fetch(error.wanted);
      return await this.#convert(this.#conversion, target);
    }
  }

  #convert(conversion: Conversion, target: ConversionTarget): Promise<ConvertedRequest> {
    const { bodies, converter } = this.#parts;
    const isEnlarged = this.#mediaBytes >= bodies.weights.conversion;
    const large =
      this.#preparedText.large ?? (isEnlarged ? enlargedBody(this.#parts, this.#input) : null);
    if (large === null) return conversion.convert(target, this.found);
    return convertLarge(converter, this.#input, this.#preparedText, large, target, this);
  }

  /** @throws GatewayError, ClientGone */
  async #fetch(wantedMedia: readonly WantedMedia[]): Promise<void> {
    const { fieldName } = this.#parts.codecs[this.#input.protocol];
    const fetchedMedia = await fetchingMedia(this.#parts, this.#input, askedMedia, (fetchMedia) =>
      fetchWanted(wantedMedia, this.#mediaBytes, fetchMedia, fieldName),
    );
    for (const { bytes } of fetchedMedia.values()) this.#mediaBytes += bytes.length;
    this.found = new Map([...this.found, ...fetchedMedia]);
  }
}

/** Is the body lost, because the thread that had it has died? */
export function isBodyGone({ request }: PreparedText): boolean {
  return request.body.length === 0;
}

/** Opens the conversion of the client's request; it serves all its routes. */
export function openConversion(
  { converter }: Pick<TextParts, 'converter'>,
  input: TextInput,
  preparedText: PreparedText,
): Conversion {
  const { request, large } = preparedText;
  if (large !== null)
    return {
      convert: (target, foundMedia = new Map()) =>
        convertLarge(converter, input, preparedText, large, target, { found: foundMedia }),
    };
  return converter.open({
    id: input.id,
    arrivedAt: input.arrivedAt,
    protocol: input.protocol,
    request,
    keyId: input.caller.keyId,
    owner: ownerOf(input.caller),
    strict: input.caller.conversion === 'strict',
  });
}

async function convertLarge(
  converter: TextParts['converter'],
  input: TextInput,
  preparedText: PreparedText,
  large: LargeBody,
  target: ConversionTarget,
  media: { found: FoundMedia },
): Promise<ConvertedRequest> {
  const convertedBody = await givingBack(preparedText, input, large.convert(target, media));
  return { ...convertedBody, ...converter.read(convertedBody.terms) };
}

/** By default, marks are placed where reading from a cache is cheaper. */
function cacheOffer(
  setting: Channel['cache'],
  price: DeclaredPrice | null,
): Pick<ConversionTarget, 'cache'> {
  const { input, cacheRead, cacheWrite1h } = price ?? {};
  if (setting === 'off' || input === undefined || cacheRead === undefined) return {};
  if (Number(cacheRead) >= Number(input)) return {};
  return { cache: { isLongPriced: cacheWrite1h !== undefined } };
}

/** @param protocol one of those that the route's channel speaks. */
export function targetOf(
  route: Route,
  protocol: TextProtocolName,
  preparedText: PreparedText,
  { withoutState, quirks: shownQuirks }: RouteEdits = noEdits,
): ConversionTarget {
  const { channel, upstreamModel } = route;
  const { model, bounds } = preparedText;
  const vendor = vendorOf(channel);
  const traits = traitsFor(vendor, upstreamModel, channel.baseUrl);
  return {
    protocol,
    channel: channel.id,
    provider: channel.provider,
    model: upstreamModel,
    traits,
    quirks: [
      ...quirksFor(vendor, protocol, upstreamModel),
      ...shownQuirks.filter((quirk) => quirk.protocol === protocol),
    ],
    maxOutputTokens: model.maxOutputTokens,
    capabilities: model.capabilities,
    echoReasoning: model.echoReasoning,
    ...(bounds.cap !== null && { outputCap: outputCapOf(bounds.cap, model, traits) }),
    ...(withoutState > 0 && { isWithoutState: true }),
    ...cacheOffer(channel.cache, model.price),
  };
}
