import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { BufferedAttempt, type BufferedOutcome } from '../../attempts/buffered-attempt.ts';
import { totalDeadline } from '../../attempts/deadlines.ts';
import { errorOfFailure } from '../../attempts/error-of-failure.ts';
import type { AttemptFailure } from '../../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../../attempts/sender.ts';
import type { ExchangeInput } from '../../exchange/input.ts';
import type { SentRequest } from '../../exchange/tried.ts';
import type { MeasuredImages } from '../image-response-reader.ts';
import type { PictureParts } from './parts.ts';
import { PictureRequests, type RouteRequest } from './picture-requests.ts';
import type { ConvertiblePictures } from './prepared.ts';
import type { PictureSide } from './surface.ts';

export type PictureOutcome = BufferedOutcome<MeasuredImages>;

/** Sends a request for pictures whose response comes whole: converted, or in the client's own protocol. */
export class PictureSender implements Sender<SentRequest, PictureOutcome> {
  readonly kind = 'buffered';
  readonly isCostly = true;
  readonly model: string;
  readonly #parts: PictureParts;
  readonly #input: ExchangeInput;
  readonly #prepared: ConvertiblePictures;
  readonly #requests: PictureRequests;

  constructor(
    parts: PictureParts,
    side: PictureSide,
    input: ExchangeInput,
    prepared: ConvertiblePictures,
  ) {
    this.model = prepared.opened.model;
    this.#parts = parts;
    this.#input = input;
    this.#prepared = prepared;
    this.#requests = new PictureRequests(parts, side, input, prepared);
  }

  prepare(route: Route): Promise<GatewayError | null> | null {
    return this.#requests.prepare(route);
  }

  build(route: Route): ReadyRequest<SentRequest, PictureOutcome> {
    const request = this.#requests.take(route);
    return { sent: request.sent, send: (lease) => this.#send(route, request, lease) };
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, null);
  }

  #send(
    route: Route,
    request: RouteRequest,
    { secret }: ChannelLease,
  ): BufferedAttempt<MeasuredImages> {
    const input = this.#input;
    const { upstream, ticker, timeouts, onUnexpectedError } = this.#parts;
    return new BufferedAttempt(this.#requests.asked(route, request, secret, false), {
      upstream,
      client: input.client,
      reader: this.#requests.readerFor(route, request),
      ticker,
      // Leaving must not make pictures free, nor a wait that the client has announced to be short.
      drains: null,
      clientDeadline: Number.POSITIVE_INFINITY,
      deadline: totalDeadline(input, route.channel, timeouts),
      onAnswered: () => this.#prepared.opened.done(),
      memory: input.memory,
      reserved: this.#prepared.reserved,
      onDefect: (error) => onUnexpectedError(error, input.id),
    });
  }
}
