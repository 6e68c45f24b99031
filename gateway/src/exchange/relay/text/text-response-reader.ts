import {
  type BodyPool,
  largestAnswer,
  readWholeResponse,
  streamOf,
  type WireProtocol,
} from '#body-work/index.ts';
import type { ReasoningPlace, ResponseReading, ResponseTerms } from '#conversion/index.ts';
import { ownerOf } from '#identity/index.ts';
import type {
  Protocol,
  ResponseEcho,
  StateKind,
  StateName,
  WireResponse,
} from '#protocols/index.ts';
import { readingInThread } from '../attempts/in-thread.ts';
import type { ReadingResponse, ResponseReader } from '../attempts/response-reader.ts';
import type { TextInput, TextParts, TextSent } from './input.ts';
import type { PreparedText } from './prepared.ts';
import type { TextRequest } from './route-request.ts';

/** A complete response in the form that the client gets. */
export interface TextResponse extends WireResponse {
  /** An estimate that was made where the response was read; absent: there is none. */
  readonly outputTokens?: number | null;
}

/** Ids that can be used only if the upstream was told to keep the response; it keeps the others in any case. */
const ofKeptResponses: ReadonlySet<StateKind> = new Set(['response', 'item']);

/** Reads the response to one request: complete ones here, large ones in threads. Keeps nothing of the request's text. */
export class TextResponseReader implements ResponseReader<TextResponse> {
  readonly largest = largestAnswer;
  /** The upstream's protocol. */
  readonly wire: WireProtocol;
  /** What makes the client's response of the upstream's. */
  readonly protocol: Pick<Protocol, 'readResponse' | 'createStreamTap'>;
  readonly echo: ResponseEcho;
  readonly #bodies: BodyPool;
  readonly #input: TextInput;
  readonly #terms: ResponseTerms | null;
  readonly #place: ReasoningPlace | null;
  /** Null for responses of which nothing has to be noted. */
  readonly #learn: ResponseReading['learn'] | null;
  /** Who is given which ids; null if the ids in the response are the gateway's. */
  readonly #names: StateNames | null;

  /** @param secret the credential of the attempt */
  constructor(
    parts: TextParts,
    input: TextInput,
    preparedText: PreparedText,
    request: TextRequest,
    secret: string | null,
  ) {
    const { convertedRequest, patchedRequest, place, route } = request;
    const { toolNames } = patchedRequest;
    this.wire = parts.protocols[convertedRequest?.protocol ?? input.protocol];
    const reading =
      convertedRequest ?? (place && parts.converter.rememberReasoning(this.wire, place));
    this.protocol = reading?.reader ?? this.wire;
    this.#learn = reading?.learn ?? null;
    this.#terms = convertedRequest?.terms ?? null;
    this.#place = place;
    this.echo = {
      clientModel: preparedText.request.model,
      upstreamModel: route.upstreamModel,
      ...(toolNames !== undefined && { toolNames }),
    };
    this.#bodies = parts.bodies;
    this.#input = input;
    this.#names =
      convertedRequest === null
        ? {
            parts,
            preparedText,
            channel: route.channel.id,
            secret,
            sentRequest: request.sentRequest,
          }
        : null;
  }

  read(body: Buffer): TextResponse | ReadingResponse<TextResponse> {
    const { echo, wire } = this;
    const bodies = this.#bodies;
    if (body.length < bodies.weights.response) {
      return readWholeResponse(body, wire, this.protocol, echo);
    }
    const args = { body, upstream: wire.name, echo, terms: this.#terms, place: this.#place };
    const running = bodies.run(this.#input.caller.keyId, 'readText', args);
    return readingInThread(running).with((response) => {
      this.#learn?.(response);
      return response;
    });
  }

  /**
   * A response as the events that were asked for. They are converted later, one by one, when they are written.
   * @param body is handed over if it is large
   * @throws UnreadableResponse
   */
  stream(body: Buffer): Buffer | ReadingResponse<Buffer> {
    const { wire } = this;
    const bodies = this.#bodies;
    const model = this.echo.upstreamModel;
    if (body.length < bodies.weights.response) return streamOf(body, wire, model);
    const args = { body, upstream: wire.name, model };
    return readingInThread(bodies.run(this.#input.caller.keyId, 'streamText', args));
  }

  accept({ storedNames }: TextResponse): void {
    if (storedNames !== undefined) this.record(storedNames);
  }

  /**
   * Records the ids that a response gives out and its upstream keeps: in this process at once, on other nodes with the
   * usage row. Called before the client sees them.
   */
  record(givenNames: readonly StateName[]): void {
    if (this.#names === null) return;
    const { parts, preparedText, channel, secret, sentRequest } = this.#names;
    const { upstreamState, clock, keepStateFor } = parts;
    const { request, unownedIds } = preparedText;
    const names = givenNames.filter(
      ({ kind, id }) =>
        unownedIds?.has(id) !== true && (request.isKept === true || !ofKeptResponses.has(kind)),
    );
    if (names.length === 0) return;
    const owner = upstreamState.digest('owner', ownerOf(this.#input.caller));
    const credential = secret === null ? null : upstreamState.digest('credential', secret);
    const expiresAt = clock.now() + keepStateFor;
    const ids: string[] = [];
    for (const { kind, id } of names) {
      const digest = upstreamState.digest('id', id);
      upstreamState.note({ id: digest, owner, channel, credential, expiresAt });
      ids.push(digest, kind);
    }
    const before = sentRequest.upstreamState?.ids ?? [];
    sentRequest.upstreamState = { owner, channel, credential, expiresAt, ids: [...before, ...ids] };
  }
}

/** What is needed to record the ids in a response. */
interface StateNames {
  readonly parts: Pick<TextParts, 'upstreamState' | 'clock' | 'keepStateFor'>;
  readonly preparedText: Pick<PreparedText, 'request' | 'unownedIds'>;
  readonly channel: string;
  readonly secret: string | null;
  readonly sentRequest: TextSent;
}
