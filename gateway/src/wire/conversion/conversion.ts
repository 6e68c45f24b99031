import {
  Unconvertible,
  type GenerationRequest,
  type Loss,
  type TextProtocolName,
  LossList,
} from '#canonical/index.ts';
import { familyOf } from '#estimation/index.ts';
import {
  applyQuirks,
  capOutput,
  stateRewrite,
  type OutputCap,
  estimateInputTokens,
  type ResponseContext,
  type CacheOffer,
  type Codec,
  type PatchedRequest,
  type EncodeTarget,
  type Protocol,
  type RequestPath,
  type WireRequest,
  passingOn,
  textFacts,
} from '#protocols/index.ts';
import { replaceHalfCharacters, type Budget, drawJson } from '#json/index.ts';
import type { QuirksOfRequest } from '#vendors/index.ts';
import { GatewayError } from '#errors/index.ts';
import { ResponseLosses, refusalOf, refuseLosses } from './losses.ts';
import type { ResponseTerms } from './response-context.ts';
import { createConvertedReader, type ResponseReader } from './converted-tap.ts';
import type { FoundMedia } from './media.ts';
import { passRequest } from './request-passes.ts';
import { makerId, type StateMaker } from './state/envelope.ts';
import {
  recallReasoning,
  rememberReasoning,
  type ReasoningPlace,
  type RecalledReasoning,
} from './state/own-reasoning.ts';
import type { StateSealer } from './state/sealer.ts';
import { rememberedNames } from './state/restore-state.ts';
import { placeOf } from './state/state-keeper.ts';
import type { KeptState, StateStore } from './state/state-store.ts';

export interface ConverterOptions {
  readonly protocols: Readonly<Record<TextProtocolName, Protocol>>;
  readonly codecs: Readonly<Record<TextProtocolName, Codec>>;
  readonly sealer: StateSealer;
  /** Stores state of responses for later requests. */
  readonly store: StateStore;
}

/** Lets a client of one protocol use an upstream of another. */
export interface Converter {
  /** Nothing is decoded before the first `convert`. */
  open(exchange: ConvertedExchange): Conversion;
  /** Reads the responses to a request that was converted here or in another thread; one per attempt. */
  read(terms: ResponseTerms): ResponseReading;
  /** What is remembered of the reasoning in a conversation that a chat client continues at a chat upstream. */
  recallReasoning(
    request: WireRequest,
    owner: string,
    maker: StateMaker,
  ): Promise<RecalledReasoning>;
  /** Reads with this reader and remembers the reasoning that goes with each call. Nothing is lost. */
  rememberReasoning(reader: ResponseReader, place: ReasoningPlace): ResponseReading;
}

export interface ConvertedExchange {
  /** The gateway's request id: `req_` and 24 characters. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly arrivedAt: number;
  readonly protocol: TextProtocolName;
  readonly request: WireRequest;
  readonly keyId: string;
  /** The team or user that reasoning state belongs to. */
  readonly owner: string;
  /** Refuse every loss. */
  readonly strict: boolean;
}

/** One exchange: decoded at most once, and encoded for each upstream that is tried. */
export interface Conversion {
  /**
   * Converts the request; a token count becomes a token count.
   * @param media what was fetched for this request
   * @throws GatewayError `invalid_value` with `param` for a part that cannot be converted, or must not be lost;
   * `too_complex`.
   * @throws MediaWanted for media that the upstream takes only as bytes. Nobody pays for a count, so none are fetched
   * for it.
   */
  convert(target: ConversionTarget, media?: FoundMedia): Promise<ConvertedRequest>;
}

export interface ConversionTarget extends Omit<EncodeTarget, 'budget'> {
  readonly protocol: TextProtocolName;
  /** The channel's id. */
  readonly channel: string;
  /** The channel's. With the model and the channel it says whose reasoning state can be read there. */
  readonly provider: string;
  /** What the upstream refuses of its protocol. */
  readonly quirks: QuirksOfRequest;
  /** The most output that the money pays for. Absent: the request's own limit counts. */
  readonly outputCap?: OutputCap;
  /** The upstream has refused the reasoning state that belongs to it: another of its accounts made it. */
  readonly isWithoutState?: boolean;
  /** The gateway places the marks of a prompt cache if the request is long enough. Absent: it does not. */
  readonly cache?: CacheOffer;
}

/** A request for an upstream of another protocol: plain data, possibly made by another thread. */
export interface ConvertedBody extends PatchedRequest {
  readonly protocol: TextProtocolName;
  readonly losses: readonly Loss[];
  readonly terms: ResponseTerms;
}

export interface ConvertedRequest extends ConvertedBody, ResponseReading {}

export interface ResponseReading {
  /** Parts of the responses read by `reader` so far that the client's protocol cannot express. */
  readonly responseLosses: ResponseLosses;
  readonly reader: ResponseReader;
  /** Adds what another thread found in a response. */
  learn(findings: {
    readonly losses: readonly Loss[];
    readonly keptStates: readonly (readonly [call: string, kept: KeptState])[];
  }): void;
}

export function createConverter(options: ConverterOptions): Converter {
  const { codecs, protocols, sealer, store } = options;
  const readingOf = (
    owner: string,
    reader: ResponseReader,
    responseLosses: ResponseLosses,
  ): ResponseReading => ({
    responseLosses,
    reader,
    learn({ losses, keptStates }) {
      responseLosses.addAll(losses);
      for (const [call, state] of keptStates) store.keep(owner, call, state);
    },
  });
  const read = (terms: ResponseTerms): ResponseReading => {
    const responseLosses = new ResponseLosses(terms.client);
    const reader = createConvertedReader(protocols[terms.upstream], {
      context: terms.context,
      clientTools: terms.clientTools,
      maker: terms.maker,
      place: terms.place,
      upstream: codecs[terms.upstream],
      client: codecs[terms.client],
      losses: responseLosses,
      sealing: { sealer, owner: terms.owner },
      store,
    });
    return readingOf(terms.owner, reader, responseLosses);
  };
  return {
    read,
    recallReasoning: (request, owner, maker) =>
      recallReasoning(request, { owner, maker: makerId(maker) }, codecs.chat, store),
    rememberReasoning: (reader, place) => {
      const remembering = rememberReasoning(reader, place, codecs.chat, store);
      return readingOf(place.owner, remembering, new ResponseLosses('chat'));
    },
    open(exchange) {
      const client = codecs[exchange.protocol];
      const { path } = exchange.request;
      const isCount = path.operation === 'count-tokens';
      let decodedRequest: GenerationRequest | null = null;
      let context: ResponseContext | null = null;

      const encode = async (
        target: ConversionTarget,
        media: FoundMedia,
      ): Promise<ConvertedRequest> => {
        decodedRequest ??= client.decodeRequest(exactRequest(exchange.request, client));
        context ??= responseContext(exchange, decodedRequest, target, client);
        const upstream = codecs[target.protocol];
        const { provider, traits, model, channel, capabilities, maxOutputTokens } = target;
        const maker = makerId({ provider, model, channel });
        // Nobody's state is that of an upstream without a name.
        const isBare = target.isWithoutState === true;
        const reader = isBare ? '' : maker;
        if (store.recall !== undefined) {
          const names = rememberedNames(decodedRequest, {
            maker: reader,
            protocol: target.protocol,
          });
          await store.recall(exchange.owner, names);
        }
        const { keyId, owner } = exchange;
        const sealing = { sealer, owner };
        const requestedTarget = { traits, model, keyId, capabilities, maxOutputTokens };
        const losses = new LossList();
        const { request, clientTools, repairs } = passRequest(
          decodedRequest,
          client.name,
          upstream,
          { ...requestedTarget, protocol: target.protocol, maker: reader },
          { sealing, store, media },
          losses,
        );
        const budget = { ...exchange.request.budget };
        drawCalls(request, budget);
        const { cache, ...others } = target;
        const leastBytes = traits.leastCached * leastBytesPerToken;
        const isCached =
          cache !== undefined && !isCount && exchange.request.body.length >= leastBytes;
        const encodeTarget = { ...others, budget, ...(isCached && { cache }) };
        const encodedRequest = upstream.encodeRequest(request, encodeTarget);
        losses.addAll(encodedRequest.losses);
        const json =
          (isCount ? upstream.encodeCount?.(encodedRequest.json, encodeTarget) : null) ??
          encodedRequest.json;
        const writtenJson = Buffer.from(JSON.stringify(json));
        const body = replaceHalfCharacters(writtenJson);
        const appliedRepairs = body === writtenJson ? repairs : repairs.union(new Set(['b41']));
        const terms: ResponseTerms = {
          context,
          client: client.name,
          upstream: target.protocol,
          clientTools,
          maker,
          place: placeOf(decodedRequest.turns),
          owner,
        };
        const repairedBody = repairBody(protocols[target.protocol], body, path, target);
        const patchedRequest =
          appliedRepairs.size === 0 ? repairedBody : withRepairs(appliedRepairs, repairedBody);
        return {
          protocol: target.protocol,
          ...patchedRequest,
          ...(isBare && { rewrites: [...patchedRequest.rewrites, stateRewrite] }),
          losses: isCount ? losses.all().filter(isCounted) : losses.all(),
          terms,
          ...read(terms),
        };
      };

      return {
        async convert(target, media = noMedia) {
          try {
            const convertedRequest = await encode(target, media);
            if (exchange.strict) refuseLosses(convertedRequest.losses, client.fieldName);
            return convertedRequest;
          } catch (error) {
            throw error instanceof Unconvertible ? refusalOf(error, client.fieldName) : error;
          }
        },
      };
    },
  };
}

/** A body of fewer bytes has fewer tokens than that in any language. */
const leastBytesPerToken = 2;

const noRewrites: readonly string[] = Object.freeze([]);

/** A token count produces no output, so a lost output limit does not matter. */
const isCounted = ({ what }: Loss): boolean => what !== 'max_output_tokens';

const noMedia: FoundMedia = new Map();

/** In the order of their numbers, repairs before quirks. */
function withRepairs(repairs: ReadonlySet<string>, patchedRequest: PatchedRequest): PatchedRequest {
  const all = [...repairs.union(new Set(patchedRequest.rewrites))];
  const rewrites = all.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return { ...patchedRequest, rewrites };
}

/**
 * Upstreams of some protocols refuse small faults that others accept; converted requests are repaired like those of their
 * clients.
 */
function repairBody(
  upstream: Protocol,
  body: Buffer,
  { operation }: RequestPath,
  target: ConversionTarget,
): PatchedRequest {
  const { model, maxOutputTokens, quirks, outputCap } = target;
  const cap = operation === 'generate' ? outputCap : undefined;
  if (!textFacts[upstream.name].isRepaired) {
    let patched: PatchedRequest = { body, rewrites: noRewrites, usageInjected: false };
    if (quirks.length > 0) patched = applyQuirks(patched, quirks);
    return cap === undefined ? patched : capOutput(patched, upstream.name, cap);
  }
  const path = { operation, model: null, stream: null };
  const request = upstream.readRequest(upstream.openRequest(body, path));
  const cappedOutput = cap === undefined ? {} : { outputCap: cap };
  return upstream.patchRequest(request, {
    upstreamModel: model,
    maxOutputTokens,
    quirks,
    ...cappedOutput,
  });
}

function responseContext(
  exchange: ConvertedExchange,
  decodedRequest: GenerationRequest,
  target: ConversionTarget,
  client: Codec,
): ResponseContext {
  const { turns: _, ...repeatedMembers } = decodedRequest;
  const request = client.forResponse?.(decodedRequest) ?? repeatedMembers;
  return {
    requestId: exchange.id,
    model: exchange.request.model,
    createdAt: Math.floor(exchange.arrivedAt / 1000),
    request,
    inputTokens: Math.ceil(estimateInputTokens(exchange.request) * familyOf(target).said),
  };
}

/**
 * The arguments of a call are JSON text in some protocols and an object in others: reading them costs as much as
 * reading the same amount of the body.
 * @throws GatewayError `too_complex`
 */
function drawCalls({ turns }: GenerationRequest, budget: Budget): void {
  for (const { blocks } of turns) {
    for (const block of blocks) {
      if (block.type !== 'tool-call') continue;
      if (!drawJson(Buffer.from(block.arguments), budget)) throw new GatewayError('too_complex');
    }
  }
}

/** Settings such as `temperature` are members of the body itself. */
const belowSettings = 1;

/** The request with its passed-on numbers as the client wrote them; the same object if they already are. */
function exactRequest(request: WireRequest, { passedOn }: Codec): WireRequest {
  const json = passingOn(request.json, request.body, passedOn, belowSettings);
  return json === request.json ? request : { ...request, json };
}
