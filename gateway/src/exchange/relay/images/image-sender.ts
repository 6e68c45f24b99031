import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { BufferedAttempt, type BufferedOutcome } from '../attempts/buffered-attempt.ts';
import { totalDeadline } from '../attempts/deadlines.ts';
import { errorOfFailure } from '../attempts/error-of-failure.ts';
import type { AttemptFailure } from '../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../attempts/sender.ts';
import { sentTo, type SentRequest } from '../exchange/tried.ts';
import { imageRequest, imageVendor } from './image-request.ts';
import { largestResponse, type MeasuredImages } from './image-response-reader.ts';
import { SpooledResponse, type StoredImages } from './spooled-response.ts';
import type { ImageInput } from './input.ts';
import type { ImageParts } from './parts.ts';
import type { PreparedImages } from './prepared.ts';
import { RequestForms } from './request-forms.ts';

export type ImageOutcome = BufferedOutcome<StoredImages | MeasuredImages>;

/** Sends the client's bytes unchanged, except for the model's name at the channel. */
export class ImageSender implements Sender<SentRequest, ImageOutcome> {
  readonly kind = 'buffered';
  readonly isCostly = true;
  readonly model: string;
  readonly #parts: ImageParts;
  readonly #input: ImageInput;
  readonly #prepared: PreparedImages;
  readonly #forms: RequestForms;

  constructor(parts: ImageParts, input: ImageInput, prepared: PreparedImages) {
    this.model = prepared.request.model;
    this.#parts = parts;
    this.#input = input;
    this.#prepared = prepared;
    this.#forms = new RequestForms(parts, prepared.request, input);
  }

  prepare(route: Route): Promise<GatewayError | null> | null {
    return this.#forms.prepare(route);
  }

  build(route: Route): ReadyRequest<SentRequest, ImageOutcome> {
    return {
      sent: sentTo(route),
      send: (lease) => this.#send(route, lease),
    };
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, this.#prepared.request.members);
  }

  #send(route: Route, { secret }: ChannelLease): BufferedAttempt<StoredImages> {
    const input = this.#input;
    const prepared = this.#prepared;
    const { upstream, ticker, timeouts, missingUsage, onUnexpectedError } = this.#parts;
    const vendor = imageVendor(route);
    const asked = imageRequest(this.#parts, input, this.#forms.of(route), {
      route,
      secret,
      vendor,
    });
    return new BufferedAttempt(asked, {
      upstream,
      client: input.client,
      reader: {
        largest: largestResponse,
        sizeIsRequested: true,
        collect: () =>
          new SpooledResponse({
            space: prepared.space,
            echo: { clientModel: prepared.request.model, upstreamModel: route.upstreamModel },
            prepared,
            missingUsage,
          }),
      },
      ticker,
      // Leaving must not make pictures free, nor a wait that the client has announced to be short.
      drains: null,
      clientDeadline: Number.POSITIVE_INFINITY,
      deadline: totalDeadline(input, route.channel, timeouts),
      onAnswered: () => this.#forms.done(),
      onDefect: (error) => onUnexpectedError(error, input.id),
    });
  }
}
