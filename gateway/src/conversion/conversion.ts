import {
  Unconvertible,
  type GenerationRequest,
  type Loss,
  type TextProtocolName,
} from '../canonical/index.ts';
import { GatewayError } from '../errors/index.ts';
import { familyOf } from '../estimation/index.ts';
import {
  estimateInputTokens,
  type AnswerContext,
  type Codec,
  type PatchedRequest,
  type EncodeTarget,
  type Protocol,
  type RequestPath,
  type WireRequest,
} from '../protocols/index.ts';
import { AnswerLosses } from './answer-losses.ts';
import { createConvertedReader, type AnswerReader } from './converted-answer.ts';
import { exactRequest } from './exact-request.ts';
import { LossList } from './losses.ts';
import { MediaLeftAlone, type FetchMedia } from './media.ts';
import { passRequest } from './request-passes.ts';
import type { StateSigner } from './state/envelope.ts';
import { createStateStore } from './state/state-store.ts';

export interface ConverterOptions {
  readonly protocols: Readonly<Record<TextProtocolName, Protocol>>;
  readonly codecs: Readonly<Record<TextProtocolName, Codec>>;
  readonly signer: StateSigner;
  readonly fetchMedia: FetchMedia;
  /** Milliseconds. */
  readonly now: () => number;
}

/** Lets a client of one protocol use an upstream of another. */
export interface Converter {
  /** Nothing is decoded before the first `convert`. */
  open(exchange: ConvertedExchange): Conversion;
}

export interface ConvertedExchange {
  /** Ours, `req_` + 24 characters. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly arrivedAt: number;
  readonly protocol: TextProtocolName;
  readonly request: WireRequest;
  readonly keyId: string;
  /** Refuse whatever would be lost. */
  readonly strict: boolean;
}

/** One exchange, decoded at most once, encoded for each upstream that is tried. */
export interface Conversion {
  /**
   * A token count becomes one. Nobody pays for it, so no media are fetched for it.
   * @throws GatewayError `invalid_value` with `param` for what cannot be carried, or may not be lost.
   * @throws MediaLeftAlone when a count would need them.
   */
  convert(target: ConversionTarget): Promise<ConvertedRequest>;
}

export interface ConversionTarget extends EncodeTarget {
  readonly protocol: TextProtocolName;
  /** The channel's id. */
  readonly channel: string;
}

export interface ConvertedRequest extends PatchedRequest {
  readonly protocol: TextProtocolName;
  readonly losses: readonly Loss[];
  /** Of the answers that `reader` has read so far: what the client's protocol has no place for. */
  readonly answerLosses: AnswerLosses;
  readonly reader: AnswerReader;
}

/** One for the whole gateway: what it remembers of answers has to be found by the requests that follow. */
export function createConverter(options: ConverterOptions): Converter {
  const { codecs, protocols, signer, fetchMedia, now } = options;
  const store = createStateStore({ now });
  return {
    open(exchange) {
      const client = codecs[exchange.protocol];
      const { path } = exchange.request;
      const isCount = path.operation === 'count-tokens';
      let decoded: GenerationRequest | null = null;
      let answer: AnswerContext | null = null;

      const encode = async (target: ConversionTarget): Promise<ConvertedRequest> => {
        decoded ??= client.decodeRequest(exactRequest(exchange.request, client));
        answer ??= answerContext(exchange, decoded, target);
        const upstream = codecs[target.protocol];
        const { provider, model, channel, capabilities, maxOutputTokens } = target;
        const owner = { provider, model, channel };
        const { keyId } = exchange;
        const losses = new LossList();
        const { request, names } = await passRequest(
          decoded,
          client.name,
          upstream,
          { owner, protocol: target.protocol, keyId, capabilities, maxOutputTokens },
          { signer, store, fetchMedia: isCount ? leaveMedia : fetchMedia },
          losses,
        );
        const encoded = upstream.encodeRequest(request, target);
        for (const loss of encoded.losses) losses.add(loss);
        const json =
          (isCount ? upstream.encodeCount?.(encoded.json, target) : null) ?? encoded.json;
        const answerLosses = new AnswerLosses(client.name);
        const parts = { names, owner, keyId, signer, store, losses: answerLosses };
        const passes = { answer, upstream, client, ...parts };
        const body = Buffer.from(JSON.stringify(json));
        return {
          protocol: target.protocol,
          ...mended(protocols[target.protocol], body, path, target),
          losses: isCount ? losses.all().filter(isCounted) : losses.all(),
          answerLosses,
          reader: createConvertedReader(protocols[target.protocol], passes),
        };
      };

      return {
        async convert(target) {
          try {
            const converted = await encode(target);
            if (exchange.strict) refuseLosses(converted.losses, client);
            return converted;
          } catch (error) {
            throw error instanceof Unconvertible ? refusalOf(error, client) : error;
          }
        },
      };
    },
  };
}

const noRewrites: readonly string[] = Object.freeze([]);

/** Where nothing is answered, no bound of the answer is lost. */
const isCounted = ({ what }: Loss): boolean => what !== 'max_output_tokens';

const leaveMedia: FetchMedia = () => Promise.reject(new MediaLeftAlone());

/** Messages upstreams refuse small faults that other protocols take; they are mended as those of its own clients are. */
function mended(
  upstream: Protocol,
  body: Buffer,
  { operation }: RequestPath,
  target: ConversionTarget,
): PatchedRequest {
  if (upstream.name !== 'messages') return { body, rewrites: noRewrites, usageInjected: false };
  const path = { operation, model: null, stream: null };
  const request = upstream.readRequest(upstream.openRequest(body, path));
  const { model, maxOutputTokens } = target;
  return upstream.patchRequest(request, { upstreamModel: model, maxOutputTokens });
}

function answerContext(
  exchange: ConvertedExchange,
  decoded: GenerationRequest,
  target: ConversionTarget,
): AnswerContext {
  const { turns: _, ...request } = decoded;
  return {
    requestId: exchange.id,
    model: exchange.request.model,
    createdAt: Math.floor(exchange.arrivedAt / 1000),
    request,
    inputTokens: Math.ceil(estimateInputTokens(exchange.request) * familyOf(target).said),
  };
}

function refusalOf(error: Unconvertible, client: Codec): GatewayError {
  const param = error.param ?? client.fieldName(error.what);
  const reason = `${error.message} (${param})`;
  return new GatewayError('invalid_value', { values: { reason }, param, cause: error });
}

function refuseLosses([first]: readonly Loss[], client: Codec): void {
  if (first === undefined) return;
  const param = client.fieldName(first.what);
  const what = first.how === 'dropped' ? 'cannot be passed on' : 'can only be approximated';
  const reason = `'${param}' ${what} to this model, and this key allows no such loss`;
  throw new GatewayError('invalid_value', { values: { reason }, param });
}
