import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import type { UpstreamHeaders } from '#upstream/index.ts';
import type { SentRequest } from '../exchange/tried.ts';
import type { AttemptFailure, AttemptOutcome } from './outcome.ts';

/**
 * Sends one exchange's request to the routes that failover chooses, one after the other. What a request is, and what
 * a response to it is, only the sender knows.
 */
export interface Sender<Sent extends SentRequest, Outcome extends AttemptOutcome> {
  /** As the client wrote it; named in errors. */
  readonly model: string;
  readonly kind: 'stream' | 'buffered';

  /**
   * What has to be done before the route can be asked, such as converting the request. Null: nothing. Resolves to why
   * the route cannot be asked, or to null when it can. Called once for each route, before its health is asked.
   */
  prepare(route: Route): Promise<GatewayError | null> | null;

  /** Which of the channel's credentials to take, if it can be used. Absent or -1: the one whose turn it is. */
  credentialFor?(route: Route): number;

  /**
   * What the route is sent; called for every request, once the route has been admitted.
   * @throws GatewayError for what no route would be sent.
   */
  build(route: Route): ReadyRequest<Sent, Outcome> | Promise<ReadyRequest<Sent, Outcome>>;

  /** The client's error for a failure that is the client's own fault. */
  errorOf(failure: AttemptFailure): GatewayError;

  /**
   * Does the channel lack what the request names, rather than the model? That says nothing about its health. Absent:
   * requests name nothing of the kind.
   */
  lacksState?(route: Route, failure: AttemptFailure): boolean;

  /** The client's error when every channel lacks it. */
  stateError?(): GatewayError;
}

/** A request to one route. */
export interface ReadyRequest<Sent extends SentRequest, Outcome> {
  readonly sent: Sent;
  /**
   * Sends it. What is returned lasts as long as the response, so it must not keep the request's text.
   * @param started the monotonic time.
   */
  send(lease: ChannelLease, started: number): RunningAttempt<Outcome>;
}

export interface RunningAttempt<Outcome> {
  readonly outcome: Promise<Outcome>;
  /** Empty until the head of the response has come. */
  readonly upstreamHeaders: UpstreamHeaders;
}
