import { GatewayError } from '#errors/index.ts';
import type { SendingParts } from './attempts/tries.ts';
import { Failover } from './attempts/failover.ts';
import type { BrokenAttempt, DisconnectedAttempt } from './attempts/outcome.ts';
import type { RequestPlan } from './attempts/request-plan.ts';
import type { Exchange, ExchangeParts } from './exchange.ts';
import {
  asGatewayError,
  finishCompleted,
  finishDisconnected,
  finishFailed,
  finishWithoutResponse,
} from './ending/finish.ts';
import { type Measured, nothingUsed, responseHeaders, type SentRequest } from './ending/record.ts';
import type { StreamSink } from './stream-sink.ts';

/**
 * How one kind of request is served: where it is sent, and what becomes of the response.
 * `Result`: a complete response. `Seen`: what is known of one whose client left, or that broke.
 */
export interface ExchangePlan<Sent extends SentRequest, Result, Seen> extends RequestPlan<
  Sent,
  Result,
  Seen
> {
  /** Where a streamed response goes. Null: the client gets it in one piece. */
  readonly sink: StreamSink | null;

  /** What a complete response costs; null: it cannot be charged, so the client must not get it. */
  measure(result: Result, sentRequest: Sent | null): Measured | null;

  /** What a client owes that left. Absent: nothing. */
  measureLeft?(leftAttempt: DisconnectedAttempt<Seen>, sentRequest: Sent | null): Measured;

  /** What a client owes whose response broke after it had seen some of it. Absent or null: nothing. */
  measureBroken?(brokenAttempt: BrokenAttempt<Seen>, sentRequest: Sent | null): Measured | null;

  /** Writes a complete response, whose row is durable, and ends the body. */
  write(
    result: Result,
    headers: Readonly<Record<string, string>>,
    sentRequest: Sent | null,
  ): void | Promise<void>;

  /**
   * The end of a stream that failed. Absent: there is no sink.
   * @param seenResponse the response that it ends; null if there is none
   */
  encodeError?(error: GatewayError, seenResponse: Result | Seen | null): string;
}

/**
 * Sends a request, makes the exchange's row durable, and only then ends the response.
 * @throws GatewayError when nothing has been written to the client yet; SpoolFailure when a response broke off.
 */
export async function answer<Sent extends SentRequest, Result, Seen>(
  parts: ExchangeParts & SendingParts,
  exchange: Exchange,
  plan: ExchangePlan<Sent, Result, Seen>,
): Promise<void> {
  const { client, startedAt } = exchange.input;
  const { sink, kind } = plan;
  const triedRequests = await new Failover(parts, exchange, plan).run();
  const { outcome, sentRequest } = triedRequests;
  switch (outcome.kind) {
    case 'unanswered': {
      const failure = await finishWithoutResponse(parts, exchange, outcome.error, triedRequests);
      return endWith(plan, failure, null);
    }
    case 'not-asked':
      return finishDisconnected(parts, exchange, nothingUsed, triedRequests);
    case 'disconnected': {
      const measuredUsage = plan.measureLeft?.(outcome, sentRequest) ?? nothingUsed;
      return finishDisconnected(parts, exchange, measuredUsage, triedRequests);
    }
    case 'broken': {
      const { error, seenResponse } = outcome;
      const measuredUsage = plan.measureBroken?.(outcome, sentRequest) ?? null;
      if (measuredUsage === null) await finishFailed(parts, exchange, error, triedRequests, 200);
      else await finishDisconnected(parts, exchange, measuredUsage, triedRequests, error);
      return endWith(plan, error, seenResponse);
    }
    case 'complete':
  }
  const { response } = outcome;
  const measuredUsage = plan.measure(response, sentRequest);
  if (measuredUsage === null) {
    const failure = new GatewayError('upstream_abnormal');
    const status = sink?.isOpened === true ? 200 : undefined;
    await finishFailed(parts, exchange, failure, triedRequests, status);
    return endWith(plan, failure, response);
  }
  if (kind === 'buffered' && sentRequest !== null) {
    sentRequest.ttftMs = parts.clock.monotonic() - startedAt;
  }
  if (kind === 'stream' && plan.isCostly === true && client.disconnected) {
    // It was read to its end for its cost.
    return finishDisconnected(parts, exchange, measuredUsage, triedRequests);
  }
  try {
    await finishCompleted(parts, exchange, measuredUsage, triedRequests);
  } catch (error) {
    return endWith(plan, asGatewayError(parts, exchange.input, error), null);
  }
  return plan.write(response, responseHeaders(sentRequest), sentRequest);
}

/**
 * A client that already has its status 200, because keep-alives or content have been sent, gets the error in the stream.
 * @throws GatewayError the error itself otherwise
 */
function endWith<Sent extends SentRequest, Result, Seen>(
  plan: Pick<ExchangePlan<Sent, Result, Seen>, 'sink' | 'encodeError'>,
  error: GatewayError,
  seenResponse: Result | Seen | null,
): void {
  const { sink } = plan;
  if (sink?.isOpened !== true || plan.encodeError === undefined) throw error;
  sink.end([plan.encodeError(error, seenResponse)]);
}
