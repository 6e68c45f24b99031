import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import type { Cure } from '#vendors/index.ts';
import type { SentRequest } from '../ending/record.ts';
import type { RequestMemory } from '../exchange.ts';
import type { Receiver } from './receiver.ts';
import type { AttemptFailure } from './outcome.ts';

/**
 * Where one exchange's request is sent, and in which form. Failover chooses among the routes, one after the other; only
 * the plan knows the request and its response.
 */
export interface RequestPlan<Sent extends SentRequest, Result, Seen> {
  /** In the order to try them. */
  readonly routes: readonly Route[];
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
   * health is checked. Absent: any route can be asked.
   */
  unable?(route: Route): Promise<GatewayError | null> | null;

  /** The index of the credential to use, if that one is usable. Absent or -1: the next in turn. */
  credentialFor?(route: Route): number;

  /**
   * The request for the route. Called for every attempt, once the route has been admitted.
   * @throws GatewayError when the request cannot be sent to any route, ClientGone; or rejects with one of them
   */
  request(
    route: Route,
    lease: ChannelLease,
  ): RoutedRequest<Sent, Result, Seen> | Promise<RoutedRequest<Sent, Result, Seen>>;

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

/**
 * A request to one route, and what takes its response. What lives as long as the response (the receiver, the terms) must
 * not keep the request's text.
 */
export interface RoutedRequest<Sent extends SentRequest, Result, Seen> extends AttemptedRequest<
  Result,
  Seen
> {
  readonly sentRequest: Sent;
}

/** What one attempt sends, and how it reacts. */
export interface AttemptedRequest<Result, Seen> {
  readonly upstream: UpstreamRequest;
  readonly receiver: Receiver<Result, Seen>;
  /**
   * What happens when the client leaves. `cancel`: the upstream is cancelled. `drain`: the response is read for its
   * cost, if there is a slot. `finish`: it is read to its end, or to the deadline, once it has been asked for: neither
   * leaving nor a short patience makes free what was asked for.
   */
  readonly onLeave: 'cancel' | 'drain' | 'finish';
  /** Limits the memory for a large response; absent: it is not limited. */
  readonly memory?: RequestMemory | undefined;
  /** In bytes of the response: what `memory` already holds for it. */
  readonly reservedBytes?: number | undefined;
  /** Called when a response without an error begins. If such an attempt fails, a costly request is not sent again. */
  readonly onAnswered?: (() => void) | undefined;
}
