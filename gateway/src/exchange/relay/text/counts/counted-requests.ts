import type { TextProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { MediaLeftAlone, type Conversion, type ConvertedRequest } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { upstreamProtocol } from '#routing/index.ts';
import { isBodyGone, openConversion, targetOf } from '../route-conversions.ts';
import type { TextInput } from '../input.ts';
import type { TextParts } from '../parts.ts';
import type { PreparedText } from '../prepared.ts';

/** One request to be counted, as channels of other protocols than the client's are to get it. */
export interface CountedRequests {
  /** Null when it cannot be asked for there. */
  of(route: Route, protocol: TextProtocolName): Promise<ConvertedRequest | null>;
  /** @throws GatewayError when no channel could answer the request either: the reason that a response would get. */
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
        const protocol = upstreamProtocol(route.channel, client);
        if (protocol === client || protocol === null) return;
        const converted = await make(route, protocol);
        if (!(converted instanceof GatewayError)) return;
        refusal ??= converted;
      }
      if (refusal !== null) throw refusal;
    },
  };
}

/** What the request is to blame for, and media that a response would be given for; anything else is a fault of ours. */
function refusalOf(error: unknown): Error {
  if (error instanceof GatewayError || error instanceof MediaLeftAlone) return error;
  throw error;
}
