import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import type { UpstreamHeaders } from '#upstream/index.ts';
import type { Cure } from '#vendors/index.ts';
import type { SentRequest } from '../exchange/record.ts';
import type { AttemptFailure, AttemptOutcome } from './outcome.ts';

/**
 * Sends one exchange's request to the routes that failover chooses, one after the other. Only the sender knows the form
 * of the request and of its response.
 */
export interface Sender<Sent extends SentRequest, Outcome extends AttemptOutcome> {
  /** As the client wrote it; errors name it. */
  readonly model: string;
  readonly kind: 'stream' | 'buffered';
  /**
   * Each request may make something that the upstream charges for even if its response is lost. Another one is sent only
   * if this one was not sent, or was refused before any work (`failover.ts`). Absent: a lost response may be asked for again.
   */
  readonly isCostly?: boolean;

  /**
   * Whatever has to happen before the route can be asked, such as converting the request; null if nothing has to.
   * Resolves to the reason why the route cannot be asked, or to null if it can. Called once for each route, before its
   * health is checked.
   */
  prepare(route: Route): Promise<GatewayError | null> | null;

  /** The index of the credential to use, if that one is usable. Absent or -1: the next in turn. */
  credentialFor?(route: Route): number;

  /**
   * Builds the request for the route. Called for every attempt, once the route has been admitted.
   * @throws GatewayError when the request cannot be sent to any route.
   */
  build(route: Route): ReadyRequest<Sent, Outcome> | Promise<ReadyRequest<Sent, Outcome>>;

  /** The request was converted for the route, which may be why it was refused. Absent: none is converted. */
  isConverted?(route: Route): boolean;

  /**
   * Edits the request for the route so that its upstream may take it after all. Resolves to whether it is worth another
   * attempt. Absent: nothing is edited.
   */
  cure?(route: Route, cure: Cure): Promise<boolean>;

  /** The edited request was answered. */
  cured?(route: Route): void;

  /** The client's error for a failure that the client caused. */
  errorOf(failure: AttemptFailure): GatewayError;

  /**
   * Does the channel lack something that the request names, rather than the model? That says nothing about its health.
   * Absent if requests of this operation name nothing.
   */
  lacksState?(route: Route, failure: AttemptFailure): boolean;

  /** The client's error when every channel lacks what the request names. */
  stateError?(): GatewayError;
}

/** A request to one route. */
export interface ReadyRequest<Sent extends SentRequest, Outcome> {
  readonly sent: Sent;
  /**
   * Sends the request. The result lives as long as the response, so it must not keep the request's text.
   * @param started the monotonic time.
   */
  send(lease: ChannelLease, started: number): RunningAttempt<Outcome>;
}

export interface RunningAttempt<Outcome> {
  readonly outcome: Promise<Outcome>;
  /** Empty until the response's head has come. */
  readonly upstreamHeaders: UpstreamHeaders;
  /** The client has closed its connection. Absent: ticks see it. */
  clientDisconnected?(): void;
  /** Ends the attempt with this error for the client. */
  end(error: GatewayError): void;
}
