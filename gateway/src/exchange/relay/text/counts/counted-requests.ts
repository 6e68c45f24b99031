import type { TextProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { type Conversion, type ConvertedRequest, MediaWanted } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { upstreamProtocols } from '#routing/index.ts';
import type { TextInput, TextParts } from '../input.ts';
import type { PreparedText } from '../prepared.ts';
import { isBodyGone, openConversion, targetOf } from '../route-conversions.ts';

/** Converts one request for counters of other protocols than the client's. */
export interface CountedRequests {
  /** Null when the request cannot be sent there. */
  of(route: Route, protocol: TextProtocolName): Promise<ConvertedRequest | null>;
  /**
   * @throws GatewayError when no channel could serve the request either: with the reason that a request for a response
   * would get.
   */
  requireAnswerable(): Promise<void>;
}

export function createCountedRequests(
  parts: Pick<TextParts, 'converter'>,
  input: TextInput,
  prepared: PreparedText,
): CountedRequests {
  const { protocol: client } = input;
  let conversion: Conversion | null = null;
  const made = new Map<string, ConvertedRequest | Error>();

  const make = async (
    route: Route,
    protocol: TextProtocolName,
  ): Promise<ConvertedRequest | Error> => {
    const key = `${protocol} ${route.channel.id} ${route.upstreamModel}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    conversion ??= openConversion(parts, input, prepared);
    const target = targetOf(route, protocol, prepared);
    const converted = await conversion.convert(target).catch((error: unknown) => {
      if (isBodyGone(prepared)) throw error;
      return refusalOf(error);
    });
    made.set(key, converted);
    return converted;
  };

  return {
    async of(route, protocol) {
      const converted = await make(route, protocol);
      return converted instanceof Error ? null : converted;
    },
    async requireAnswerable() {
      let refusal: GatewayError | null = null;
      for (const route of prepared.routes) {
        const protocol = upstreamProtocols(route, client)[0];
        if (protocol === client || protocol === undefined) return;
        const converted = await make(route, protocol);
        if (!(converted instanceof GatewayError)) return;
        refusal ??= converted;
      }
      if (refusal !== null) throw refusal;
    },
  };
}

/**
 * The refusal, if the request is to blame or has media that are fetched only for a response. Any other error is a
 * defect of the gateway.
 */
function refusalOf(error: unknown): Error {
  if (error instanceof GatewayError || error instanceof MediaWanted) return error;
  throw error;
}
