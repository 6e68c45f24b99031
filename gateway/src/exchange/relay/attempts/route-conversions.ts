import { ownerOf } from '#identity/index.ts';
import type { TextProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import type { Conversion, ConversionTarget, ConvertedRequest } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { upstreamProtocol } from '#routing/index.ts';
import { quirksFor, traitsFor, vendorOf } from '#vendors/index.ts';
import type { ExchangeInput } from '../exchange.ts';
import type { ExchangeState } from '../exchange-state.ts';
import { givingBack, type LargeBody } from '../large-body.ts';
import type { RelayParts } from '../parts.ts';
import type { Prepared } from '../prepare.ts';

/** The request as each route of another protocol is to get it, made when the route's turn comes. */
export class RouteConversions {
  /** Why a route could not be asked; the first one's reason stands for all. */
  refusal: GatewayError | null = null;
  readonly #parts: RelayParts;
  readonly #state: ExchangeState;
  readonly #prepared: Prepared;
  readonly #converted = new Map<Route, ConvertedRequest | null>();
  #conversion: Conversion | null = null;

  constructor(parts: RelayParts, state: ExchangeState, prepared: Prepared) {
    this.#parts = parts;
    this.#state = state;
    this.#prepared = prepared;
  }

  isRefused(route: Route): boolean {
    return this.#converted.get(route) === null;
  }

  /** The route's request, when it has been made; null for a route that speaks the client's protocol. */
  of(route: Route): ConvertedRequest | null {
    return this.#converted.get(route) ?? null;
  }

  /** Makes the route's request. False when the route cannot be asked for this. */
  async convert(route: Route): Promise<boolean> {
    const known = this.#converted.get(route);
    if (known !== undefined) return known !== null;
    try {
      this.#converted.set(route, await this.#make(route));
      return true;
    } catch (error) {
      // Without the body nobody else can be asked either.
      if (!(error instanceof GatewayError) || isBodyGone(this.#prepared)) throw error;
      this.#converted.set(route, null);
      this.refusal ??= error;
      return false;
    }
  }

  /** Lets go of all that was made: no other route is going to be asked. */
  forget(): void {
    this.#conversion = null;
    this.#converted.clear();
  }

  #make(route: Route): Promise<ConvertedRequest> {
    const protocol = upstreamProtocol(route.channel, this.#state.input.protocol);
    if (protocol === null) throw new GatewayError('internal_error');
    this.#conversion ??= openConversion(this.#parts, this.#state, this.#prepared);
    return this.#conversion.convert(targetOf(route, protocol, this.#prepared));
  }
}

/** The thread that had it did not come to an end. */
export function isBodyGone({ request }: Prepared): boolean {
  return request.body.length === 0;
}

/** Of the request as it came; the same for all its routes. */
export function openConversion(
  { converter }: RelayParts,
  { input }: ExchangeState,
  prepared: Prepared,
): Conversion {
  const { request, large } = prepared;
  if (large !== null)
    return { convert: (target) => convertLarge(converter, input, prepared, large, target) };
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
  converter: RelayParts['converter'],
  input: ExchangeInput,
  prepared: Prepared,
  large: LargeBody,
  target: ConversionTarget,
): Promise<ConvertedRequest> {
  const converted = await givingBack(prepared, input, large.convert(target));
  return { ...converted, ...converter.read(converted.terms) };
}

/** @param protocol one of those that the route's channel speaks. */
export function targetOf(
  { channel, upstreamModel }: Route,
  protocol: TextProtocolName,
  { model }: Prepared,
): ConversionTarget {
  const vendor = vendorOf(channel);
  return {
    protocol,
    channel: channel.id,
    provider: channel.provider,
    traits: traitsFor(vendor, upstreamModel),
    quirks: quirksFor(vendor, protocol, upstreamModel),
    model: upstreamModel,
    maxOutputTokens: model.maxOutputTokens,
    capabilities: model.capabilities,
    echoReasoning: model.echoReasoning,
  };
}
