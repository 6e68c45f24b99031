import type { Hold } from '#billing/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { FinishedExchange } from '#observability/index.ts';
import { clientOf, type ExchangeRecord } from '#usage/index.ts';
import {
  type Exchange,
  type ExchangeInput,
  type ExchangeParts,
  mayBeRetried,
} from '../exchange.ts';
import {
  type Ending,
  type Measured,
  nothingTried,
  nothingUsed,
  recordOf,
  type Tried,
  withoutKeys,
} from './record.ts';

/** The parts that finishing an exchange needs. */
export interface FinishParts extends Pick<
  ExchangeParts,
  'billing' | 'clock' | 'digestBody' | 'keepsErrorTexts' | 'onUnexpectedError'
> {
  readonly journal: Pick<ExchangeParts['journal'], 'append'>;
  readonly observer: Pick<ExchangeParts['observer'], 'finished'>;
}

/**
 * Makes the exchange's row durable and replaces the hold by the charge. The client learns of the end only afterwards.
 * @throws what billing throws, and the journal's error when the row cannot be made durable; then nothing stays held, and
 * nothing is charged.
 */
export function finishExchange(
  parts: Omit<FinishParts, 'onUnexpectedError'>,
  exchange: Exchange,
  ending: Ending,
): Promise<void> {
  const { billing, clock, journal, observer } = parts;
  const durationMs = clock.monotonic() - exchange.input.startedAt;
  const { hold } = exchange;
  const { outcome, measuredUsage, error } = ending;
  // A client does not pay for a failure. A client that leaves pays for what was there of the response.
  const isOwed =
    (outcome === 'completed' || outcome === 'client-left') && measuredUsage.source !== 'none';
  let charge = null;
  if (hold !== null && isOwed) {
    try {
      charge = billing.charge(hold, measuredUsage.lines, measuredUsage.source);
    } catch (error) {
      billing.commitHold(hold, null);
      throw error;
    }
  }
  let record = recordOf(exchange, ending, charge, durationMs);
  if (error !== null && parts.keepsErrorTexts) {
    record = { ...record, message: withoutKeys(error.message) };
  }
  return journal.append(record).then(
    () => {
      if (hold !== null) billing.commitHold(hold, charge);
      observer.finished(finishedExchangeOf(parts, exchange, record));
    },
    (error: unknown) => {
      if (hold !== null) billing.commitHold(hold, null);
      observer.finished(finishedExchangeOf(parts, exchange, withoutRow(record)));
      throw error;
    },
  );
}

/** Reports how an exchange ended whose row is written elsewhere, with whatever it began. */
export function reportExchange(
  parts: Pick<FinishParts, 'clock' | 'digestBody' | 'observer'>,
  exchange: Exchange,
  ending: Ending,
): void {
  const { clock, observer } = parts;
  const durationMs = clock.monotonic() - exchange.input.startedAt;
  observer.finished(
    finishedExchangeOf(parts, exchange, recordOf(exchange, ending, null, durationMs)),
  );
}

/**
 * Finishes an exchange with a complete response, which the client may see only once its row is durable.
 * @throws GatewayError `unavailable` when the row cannot be made durable; the client then gets this error instead of
 * the response.
 */
export async function finishWithResponse(
  parts: FinishParts,
  exchange: Exchange,
  ending: Ending,
): Promise<void> {
  try {
    const { measuredUsage } = ending;
    const believedUsage =
      measuredUsage.isBeyondRequest === true
        ? await believedOf(parts, exchange.hold, measuredUsage)
        : measuredUsage;
    await finishExchange(parts, exchange, { ...ending, measuredUsage: believedUsage });
  } catch (error) {
    // An unavailable journal is reported once, not for each request.
    if (!isUnavailable(error)) parts.onUnexpectedError(error, exchange.input.id);
    throw new GatewayError('unavailable', { cause: error });
  }
}

/** What was reported beyond what was asked for, and beyond the hold, counts if there is money for it. */
async function believedOf(
  { billing }: Pick<FinishParts, 'billing'>,
  hold: Hold | null,
  measuredUsage: Measured,
): Promise<Measured> {
  if (hold === null || measuredUsage.source !== 'reported') return measuredUsage;
  const excess = billing.costOf(hold, measuredUsage.lines) - hold.amount;
  if (excess <= 0n) return measuredUsage;
  const heldAmount = hold.amount;
  const refusal = await billing.extend(hold, excess);
  const isPaid = refusal === null && hold.amount - heldAmount >= excess;
  return isPaid ? measuredUsage : { ...measuredUsage, source: 'quarantined' };
}

/** A client whose own deadline came first has got an error: it pays, and its row says what it saw. */
export function finishCompleted(
  parts: FinishParts,
  exchange: Exchange,
  measuredUsage: Measured,
  triedRequests: Tried,
): Promise<void> {
  if (exchange.input.client.failedWith !== null) {
    return finishDisconnected(parts, exchange, measuredUsage, triedRequests);
  }
  // Clients get 200, whatever success status the upstream used.
  return finishWithResponse(parts, exchange, {
    outcome: 'completed',
    status: 200,
    error: null,
    measuredUsage,
    triedRequests,
  });
}

/**
 * Finishes an exchange whose client left, or does not get the rest of what it pays for.
 * @param error the error that the client would have got in the end; absent: none, or the one that it got in between.
 */
export function finishDisconnected(
  parts: FinishParts,
  exchange: Exchange,
  measuredUsage: Measured,
  triedRequests: Tried,
  error: GatewayError | null = exchange.input.client.failedWith,
): Promise<void> {
  return finishWithResponse(parts, exchange, {
    outcome: 'client-left',
    status: exchange.input.client.failedWith?.entry.status ?? 499,
    error,
    measuredUsage,
    triedRequests,
  });
}

/** Finishes an exchange that was refused before any upstream was asked. */
export function finishRefused(
  parts: FinishParts,
  exchange: Exchange,
  error: GatewayError,
  triedRequests: Tried = nothingTried,
): Promise<void> {
  return finishWithError(parts, exchange, {
    outcome: 'refused',
    status: error.entry.status,
    error,
    measuredUsage: nothingUsed,
    triedRequests,
  });
}

/** @param status the one that the client got: the error's own, unless a response had begun */
export function finishFailed(
  parts: FinishParts,
  exchange: Exchange,
  error: GatewayError,
  triedRequests: Tried,
  status = error.entry.status,
): Promise<void> {
  return finishWithError(parts, exchange, {
    outcome: 'failed',
    status,
    error,
    measuredUsage: nothingUsed,
    triedRequests,
  });
}

/**
 * Finishes an exchange without a response from any channel. If no channel could take the converted request, nothing was
 * sent, and the exchange ends as a refusal.
 * @returns the client's error.
 */
export async function finishWithoutResponse(
  parts: FinishParts,
  exchange: Exchange,
  error: unknown,
  triedRequests: Tried,
): Promise<GatewayError> {
  const failure = asGatewayError(parts, exchange.input, error);
  const { errorName } = failure;
  const isRefusal = errorName === 'invalid_value' || errorName === 'too_complex';
  if (triedRequests.attempts.length === 0 && isRefusal) {
    await finishRefused(parts, exchange, failure, triedRequests);
  } else await finishFailed(parts, exchange, failure, triedRequests);
  return failure;
}

/** A failure costs nothing, so the client gets its error even if the row is lost. */
async function finishWithError(
  parts: FinishParts,
  exchange: Exchange,
  ending: Ending,
): Promise<void> {
  try {
    await finishExchange(parts, exchange, ending);
  } catch (error) {
    if (!isUnavailable(error)) parts.onUnexpectedError(error, exchange.input.id);
  }
}

/** Any error that is not from the catalogue is a defect of the gateway. */
export function asGatewayError(
  { onUnexpectedError }: Pick<ExchangeParts, 'onUnexpectedError'>,
  { id }: Pick<ExchangeInput, 'id'>,
  error: unknown,
): GatewayError {
  if (error instanceof GatewayError) return error;
  onUnexpectedError(error, id);
  return new GatewayError('internal_error', { cause: error });
}

function isUnavailable(error: unknown): boolean {
  return error instanceof GatewayError && error.errorName === 'unavailable';
}

/** How an exchange ends whose row is lost: a complete response is not shown, a failure is reported in any case. */
function withoutRow(record: ExchangeRecord): ExchangeRecord {
  if (record.outcome !== 'completed') return record;
  return { ...record, outcome: 'failed', status: 503, error: 'unavailable' };
}

function finishedExchangeOf(
  { digestBody }: Pick<ExchangeParts, 'digestBody'>,
  exchange: Exchange,
  record: ExchangeRecord,
): FinishedExchange {
  const { input, catalogueModel, retryCount, bodyDigest } = exchange;
  // Only requests that may be repeated, or are repetitions, get a digest: it costs time.
  const isDigested = bodyDigest === null && mayBeRetried(record.status) && input.body.length > 0;
  const modelId = catalogueModel?.id ?? null;
  const { traceparent, tracestate } = input.headers;
  return {
    record,
    keyName: input.caller.keyName,
    teamName: input.caller.team?.name ?? null,
    client: clientOf(record.userAgent),
    modelId,
    retryCount,
    bodyDigest: isDigested ? digestBody(input.body) : bodyDigest,
    traceparent,
    tracestate,
  };
}
