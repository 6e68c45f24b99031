import type { TextProtocolName } from '#canonical/index.ts';
import {
  createConverter,
  MediaWanted,
  createStateStore,
  type ConvertedRequest,
  type Conversion,
  type FoundMedia,
} from '#conversion/index.ts';
import { textCodecs, textProtocols, type WireRequest } from '#protocols/index.ts';
import { sealerOf } from './converted-reader.ts';
import { traitsOf } from './upstream-traits.ts';
import type { ProviderName } from '#vendors/index.ts';

export const textProtocolNames = Object.keys(textProtocols) as TextProtocolName[];

/** Every client protocol with every other upstream protocol. */
export const protocolPairs = textProtocolNames.flatMap((client) =>
  textProtocolNames
    .filter((upstream) => upstream !== client)
    .map((upstream) => ({ client, upstream })),
);

/** A body as the endpoint of its protocol reads it. @throws GatewayError */
export function readWire(protocol: TextProtocolName, json: unknown): WireRequest {
  return readWireText(protocol, JSON.stringify(json));
}

/** @throws GatewayError */
export function readWireText(protocol: TextProtocolName, text: string): WireRequest {
  const isInPath = protocol === 'generate-content';
  const named = isInPath ? { model: 'm', stream: false } : { model: null, stream: null };
  const { openRequest, readRequest } = textProtocols[protocol];
  return readRequest(openRequest(Buffer.from(text), { operation: 'generate', ...named }));
}

type Target = Parameters<ReturnType<ReturnType<typeof createConverter>['open']>['convert']>[0];

export interface Asked {
  readonly client: TextProtocolName;
  readonly request: WireRequest;
  readonly target: Partial<Target> & { readonly protocol: TextProtocolName };
  readonly strict?: boolean;
  readonly converter?: ReturnType<typeof converterOf>;
}

const capabilities = new Set(['vision', 'tools', 'reasoning', 'sampling']);
/** Nothing is fetched: an address that ends in `.pdf` is taken for one, any other for a picture. */
export async function withMedia<Result>(
  convert: (media?: FoundMedia) => Promise<Result>,
): Promise<Result> {
  try {
    return await convert();
  } catch (error) {
    if (!(error instanceof MediaWanted)) throw error;
    return convert(new Map(error.wanted.map(({ url }) => [url, mediaAt(url)])));
  }
}

export function mediaAt(url: string): { readonly mime: string; readonly bytes: Buffer } {
  return {
    mime: url.endsWith('.pdf') ? 'application/pdf' : 'image/png',
    bytes: Buffer.from('x'),
  };
}

export function converterOf() {
  return createConverter({
    protocols: textProtocols,
    codecs: textCodecs,
    sealer: sealerOf('key'),
    store: createStateStore({ now: () => 0 }),
  });
}

/** A request on its way to an upstream of another protocol. @throws GatewayError */
export function convert(asked: Asked): Promise<ConvertedRequest> {
  const { client, request, target, strict = false, converter = converterOf() } = asked;
  const caller = { keyId: 'key_1', owner: 'user:1' };
  const exchange = { id: 'req_1', arrivedAt: 0, protocol: client, request, ...caller, strict };
  const { provider = 'openai-compatible', model = 'up' } = target;
  const conversion: Conversion = converter.open(exchange);
  const whole = {
    channel: 'ch_1',
    provider,
    model,
    traits: traitsOf(provider as ProviderName, model),
    quirks: [],
    maxOutputTokens: 9000,
    capabilities,
    echoReasoning: null,
    ...target,
  };
  return withMedia((media) => conversion.convert(whole, media));
}
