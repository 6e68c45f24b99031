import type { TextProtocolName } from '#canonical/index.ts';
import { lacks } from '#canonical/index.ts';
import {
  carriesEnvelopes,
  createConverter,
  withoutEnvelopes,
  type Conversion,
  type ConversionTarget,
  type ConvertedBody,
  type ConvertedExchange,
  type Converter,
  type FoundMedia,
  type KeptState,
  type ReasoningPlace,
  type ResponseTerms,
  type StateMaker,
  type StateSealer,
  type StateStore,
} from '#conversion/index.ts';
import { outlineRequest, type Outline } from '#estimation/index.ts';
import {
  estimateOutputTokens,
  ownItems,
  textCodecs,
  textProtocols,
  type NamedItem,
  type OpenedRequest,
  type PatchedRequest,
  type PatchTarget,
  type Protocol,
  type RequestPath,
  type ResponseEcho,
  type WireRequest,
  type WireResponse,
} from '#protocols/index.ts';
import { conversationOf, type Conversation, type ConversationSource } from '#routing/index.ts';
import { later, namesOf, type Later } from './functions.ts';
import { readWholeResponse, streamOf } from './read-response.ts';

/** A text request whose parsed form stays in the thread that has just read it. */
export interface ThreadRequest {
  /** The exchange's id, which distinguishes bodies. */
  readonly exchange: string;
  readonly protocol: TextProtocolName;
  readonly path: RequestPath;
  readonly body: Buffer;
}

export interface RequestFacts {
  /** Everything that reading found, by exclusion: a new member cannot be forgotten here. */
  readonly checked: Omit<WireRequest, 'path' | 'body' | 'scan' | 'json' | 'model'>;
  /** The members of the body that an error may name, without their values. */
  readonly members: Readonly<Record<string, undefined>>;
  /** Whether it contains reasoning that the gateway sealed. */
  readonly isSealed: boolean;
  readonly conversation: Conversation;
}

export interface PatchedBody {
  readonly patchedRequest: PatchedRequest;
  /** Whether sealed reasoning of other upstreams was removed. */
  readonly isStripped: boolean;
  /** See `RecalledReasoning`. */
  readonly place: ReasoningPlace | null;
}

export interface Patching {
  readonly target: PatchTarget;
  /** Whose reasoning of earlier turns is recalled; null: none is. */
  readonly recalled: { readonly owner: string; readonly maker: StateMaker } | null;
}

/** A complete response, as its reader would have noted it in the main thread. */
export interface ReadResponse extends WireResponse {
  /** An estimate; null if the usage reports the tokens. */
  readonly outputTokens: number | null;
  /** What the client's protocol cannot express, and state to remember, by call: for `ResponseReading.learn`. */
  readonly losses: ReturnType<WireLosses['all']>;
  readonly keptStates: readonly (readonly [call: string, kept: KeptState])[];
}

type WireLosses = ReturnType<Converter['read']>['responseLosses'];

/** The state that is remembered of these calls in the main thread. One question at a time. */
export type Ask = (calls: readonly string[]) => Promise<Reply>;
export type Reply = readonly (readonly [call: string, kept: KeptState])[];

/** The last request, so that the steps after reading do not read it again. */
interface Known {
  readonly exchange: string;
  readonly opened: OpenedRequest;
  request: WireRequest | null;
  conversion: Conversion | null;
}

/** What threads do with large bodies of text. Runs one after another, and is pure except for the questions it asks. */
export class TextFunctions {
  /** The calls of which the main thread remembers state; null: it may be any. */
  inMain: ReadonlySet<string> | null = new Set();
  readonly #rememberedStates = new Map<string, KeptState>();
  readonly #converter: Converter;
  #keptStates: (readonly [call: string, kept: KeptState])[] = [];
  #knownBody: Known | null = null;

  constructor(sealer: StateSealer, ask: Ask) {
    const rememberedStates = this.#rememberedStates;
    const store: StateStore = {
      find: (_owner, call) => rememberedStates.get(call) ?? null,
      // For a response: the main thread stores it.
      keep: (_owner, call, state) => void this.#keptStates.push([call, state]),
      callsOf: () => [...rememberedStates.keys()],
      recall: async (_owner, all) => {
        const calls = [...new Set(all)].filter(
          (call) => this.inMain?.has(call) !== false && !rememberedStates.has(call),
        );
        if (calls.length === 0) return;
        for (const [call, kept] of await ask(calls)) rememberedStates.set(call, kept);
      },
    };
    const codecs = textCodecs;
    this.#converter = createConverter({ protocols: textProtocols, codecs, sealer, store });
  }

  /** Releases the last request. */
  forget(): void {
    this.#knownBody = null;
    this.#rememberedStates.clear();
  }

  /** @throws GatewayError for a body that does not name a model. */
  openText({
    source,
    ...request
  }: ThreadRequest & { readonly source: Pick<ConversationSource, 'keyId' | 'headers'> }): {
    readonly model: string;
    readonly facts: Later<RequestFacts>;
  } {
    const { model } = this.#open(request).opened;
    return { model, facts: later(() => factsOf(this.#read(request), request.protocol, source)) };
  }

  /** See `patchText`. */
  patchText({
    target,
    recalled,
    ...given
  }: ThreadRequest & Patching): PatchedBody | Promise<PatchedBody> {
    const isSealed = carriesEnvelopes(given.body, given.protocol);
    const protocol = textProtocols[given.protocol];
    const request = this.#read(given);
    return patchText(this.#converter, protocol, request, isSealed, { target, recalled });
  }

  /** Like `Conversion.convert`. */
  async convertText({
    converted,
    target,
    media,
    ...given
  }: ThreadRequest & {
    readonly converted: Omit<ConvertedExchange, 'request'>;
    readonly target: ConversionTarget;
    readonly media: FoundMedia;
  }): Promise<ConvertedBody> {
    const request = this.#read(given);
    const own = this.#open(given);
    own.conversion ??= this.#converter.open({ ...converted, request });
    try {
      const {
        reader: _,
        responseLosses: __,
        learn: ___,
        ...body
      } = await own.conversion.convert(target, media);
      return body;
    } catch (error) {
      // The conversion may still need bytes that go back.
      own.conversion = null;
      throw error;
    }
  }

  /** For an estimate of its tokens. @throws GatewayError for a body that cannot be decoded */
  outlineText(threadRequest: ThreadRequest): Outline {
    return outlineRequest(
      textCodecs[threadRequest.protocol].decodeRequest(this.#read(threadRequest)),
    );
  }

  /** The items of earlier responses that the body names. @throws GatewayError for a body that cannot be read */
  itemNames({ protocol, path, body }: ThreadRequest): readonly NamedItem[] {
    return ownItems.names(textProtocols[protocol].openRequest(body, path).json);
  }

  /** The body with the items in the place of their names. @param texts by their places in the input */
  withItems({
    protocol,
    path,
    body,
    texts,
  }: ThreadRequest & { readonly texts: ReadonlyMap<number, string> }): Buffer {
    return ownItems.withTexts(textProtocols[protocol].openRequest(body, path).json, texts);
  }

  /**
   * Reads a complete response, or a stream where a complete response was requested.
   * @param upstream its protocol
   * @param terms null: client and upstream use the same protocol
   * @param place whose reasoning is remembered then; null: nobody's
   * @throws UnreadableResponse
   */
  readText({
    body,
    upstream,
    echo,
    terms,
    place,
  }: {
    readonly body: Buffer;
    readonly upstream: TextProtocolName;
    readonly echo: ResponseEcho;
    readonly terms: ResponseTerms | null;
    readonly place: ReasoningPlace | null;
  }): ReadResponse {
    this.#keptStates = [];
    const wire = textProtocols[upstream];
    const remembering = place && this.#converter.rememberReasoning(wire, place);
    const reading = terms === null ? remembering : this.#converter.read(terms);
    const response = readWholeResponse(body, wire, reading?.reader ?? wire, echo);
    return {
      ...response,
      outputTokens: estimateOf(response),
      losses: reading?.responseLosses.all() ?? [],
      keptStates: this.#keptStates,
    };
  }

  /** A complete response as the stream that was requested. @throws UnreadableResponse */
  streamText({
    body,
    upstream,
    model,
  }: {
    readonly body: Buffer;
    readonly upstream: TextProtocolName;
    readonly model: string;
  }): Buffer {
    return streamOf(body, textProtocols[upstream], model);
  }

  #open({ exchange, protocol, path, body }: ThreadRequest): Known {
    if (this.#knownBody?.exchange === exchange) return this.#knownBody;
    this.forget();
    const openedRequest = textProtocols[protocol].openRequest(body, path);
    return (this.#knownBody = { exchange, opened: openedRequest, request: null, conversion: null });
  }

  #read(threadRequest: ThreadRequest): WireRequest {
    const own = this.#open(threadRequest);
    own.request ??= textProtocols[threadRequest.protocol].readRequest(own.opened);
    // The bytes arrive with each call; those of the reading were returned.
    return { ...own.request, body: threadRequest.body };
  }
}

/**
 * Like `Protocol.patchRequest`, after removing the reasoning that other upstreams made. A promise if reasoning is recalled.
 * @param isSealed the request holds such reasoning
 */
export function patchText(
  converter: Pick<Converter, 'recallReasoning'>,
  protocol: Protocol,
  request: WireRequest,
  isSealed: boolean,
  { target, recalled }: Patching,
): PatchedBody | Promise<PatchedBody> {
  const native = isSealed ? withoutEnvelopes(protocol, request) : request;
  const { echo } = target;
  if (recalled === null || echo === undefined) {
    return {
      patchedRequest: protocol.patchRequest(native, target),
      isStripped: isSealed,
      place: null,
    };
  }
  const { owner, maker } = recalled;
  return converter.recallReasoning(native, owner, maker).then(({ texts, place }) => {
    const patchedRequest = protocol.patchRequest(native, { ...target, echo: { ...echo, texts } });
    return { patchedRequest, isStripped: isSealed, place };
  });
}

export type TextFunctionName = Exclude<keyof TextFunctions, 'inMain' | 'forget'>;

function factsOf(
  request: WireRequest,
  protocol: TextProtocolName,
  source: Pick<ConversationSource, 'keyId' | 'headers'>,
): RequestFacts {
  const { path: _, scan: __, json, body, model, ...checked } = request;
  return {
    checked: { ...checked, extent: { ...checked.extent } },
    members: namesOf(json),
    isSealed: carriesEnvelopes(body, protocol),
    conversation: conversationOf({ ...source, model, json }),
  };
}

function estimateOf({ body, usage }: WireResponse): number | null {
  if (usage !== null && !lacks(usage, 'output')) return null;
  return estimateOutputTokens(JSON.parse(body.toString('utf8')));
}
