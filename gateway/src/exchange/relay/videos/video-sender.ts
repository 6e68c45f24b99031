import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { Attempt } from '../attempts/attempt.ts';
import { attemptOptions } from '../attempts/attempt-options.ts';
import { errorOfFailure } from '../attempts/error-of-failure.ts';
import type { AttemptFailure, OutcomeOf } from '../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../attempts/sender.ts';
import { WholeResponse } from '../attempts/whole-response.ts';
import { sentTo, type SentRequest } from '../exchange/tried.ts';
import type { VideoInput } from './input.ts';
import type { VideoParts } from './parts.ts';
import type { PreparedVideo } from './prepared.ts';
import { patientClient } from './patient-client.ts';
import { readIdWith, type SubmittedTask } from './submitted-task.ts';
import { submitRequest } from './submit-request.ts';

export type SubmitOutcome = OutcomeOf<SubmittedTask, never>;

/** Sends the request as it was read, with the model's name at the channel. */
export class VideoSender implements Sender<SentRequest, SubmitOutcome> {
  readonly kind = 'buffered';
  readonly isCostly = true;
  readonly model: string;
  readonly #parts: VideoParts;
  readonly #input: VideoInput;
  readonly #prepared: PreparedVideo;

  /** @param model as the client wrote it */
  constructor(parts: VideoParts, input: VideoInput, model: string, prepared: PreparedVideo) {
    this.model = model;
    this.#parts = parts;
    this.#input = input;
    this.#prepared = prepared;
  }

  prepare(): null {
    return null;
  }

  build(route: Route): ReadyRequest<SentRequest, SubmitOutcome> {
    return {
      sent: sentTo(route),
      send: (lease) => this.#send(route, lease),
    };
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, null);
  }

  #send(route: Route, { secret }: ChannelLease): Attempt<SubmittedTask, never> {
    const input = this.#input;
    const { timeouts } = this.#parts;
    const vendor = vendorOf(route.channel);
    const side = vendor?.tasks?.[input.protocol];
    if (vendor === undefined || side === undefined) throw new GatewayError('internal_error');
    const { request } = this.#prepared;
    const asked = submitRequest(input, request, { route, vendor, side, secret, timeouts });
    return new Attempt(asked, new WholeResponse(readIdWith(side, { route, secret })), {
      ...attemptOptions(this.#parts, input, route.channel, 'finish'),
      client: patientClient,
    });
  }
}
