import type { Hold } from '#billing/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ChargeRecord, ExchangeRecord } from '#usage/index.ts';
import type { FinishedExchange } from '#observability/index.ts';
import { mayBeRetried } from './client-retries.ts';
import type { Exchange } from './exchange.ts';
import type { ExchangeInput } from './input.ts';
import { nothingUsed, type Measured } from './measured.ts';
import type { ExchangeParts } from './parts.ts';
import { recordOf, type Ending } from './record-of.ts';
import { nothingTried, type Tried } from './tried.ts';

/** What of an exchange's parts an end takes. */
export interface FinishParts extends Pick<
  ExchangeParts,
  'billing' | 'clock' | 'digestBody' | 'onUnexpectedError'
> {
  readonly journal: Pick<ExchangeParts['journal'], 'append'>;
  readonly observer: Pick<ExchangeParts['observer'], 'finished'>;
}

/**
 * Makes the exchange's row durable, with its charge in place of the hold. Everything that tells the client of an end
 * waits for this.
 * @throws what the journal says when the row cannot be made durable; nothing is held or charged then.
 */
export function finishExchange(
  parts: Omit<FinishParts, 'onUnexpectedError'>,
  exchange: Exchange,
  ending: Ending,
): Promise<void> {
  const { billing, clock, journal, observer } = parts;
  const durationMs = clock.monotonic() - exchange.input.startedAt;
  const { hold } = exchange;
  const charge = hold === null || !isOwed(ending) ? null : chargeFor(parts, hold, ending);
  const record = recordOf(exchange, ending, charge, durationMs);
  return journal.append(record).then(
    () => {
      if (hold !== null) billing.commitHold(hold, charge);
      observer.finished(observed(parts, exchange, record));
    },
    (error: unknown) => {
      if (hold !== null) billing.commitHold(hold, null);
      observer.finished(observed(parts, exchange, withoutRow(record)));
      throw error;
    },
  );
}

/**
 * A finished response is shown only once its row is safe.
 * @throws GatewayError `unavailable` when the row cannot be made so: the response is an error then.
 */
export async function finishAnswered(
  parts: FinishParts,
  exchange: Exchange,
  ending: Ending,
): Promise<void> {
  try {
    await finishExchange(parts, exchange, ending);
  } catch (error) {
    // A journal that is unavailable has been reported once for all the requests that it meets.
    if (!isUnavailable(error)) parts.onUnexpectedError(error, exchange.input.id);
    throw new GatewayError('unavailable', { cause: error });
  }
}

export function finishCompleted(
  parts: FinishParts,
  exchange: Exchange,
  measured: Measured,
  tried: Tried,
): Promise<void> {
  // Clients know one status of success, whatever the upstream calls it.
  return finishAnswered(parts, exchange, {
    outcome: 'completed',
    status: 200,
    error: null,
    measured,
    tried,
  });
}

/** The client left. @param error the error that the client would have got at the end; absent: none. */
export function finishLeft(
  parts: FinishParts,
  exchange: Exchange,
  measured: Measured,
  tried: Tried,
  error: GatewayError | null = null,
): Promise<void> {
  return finishAnswered(parts, exchange, {
    outcome: 'client-left',
    status: 499,
    error,
    measured,
    tried,
  });
}

/** Refused before any upstream was asked. */
export function finishRefused(
  parts: FinishParts,
  exchange: Exchange,
  error: GatewayError,
  tried: Tried = nothingTried,
): Promise<void> {
  return finishUnanswered(parts, exchange, {
    outcome: 'refused',
    status: error.entry.status,
    error,
    measured: nothingUsed,
    tried,
  });
}

/**
 * @param status what the client got: the error's own, unless a response had begun
 */
export function finishFailed(
  parts: FinishParts,
  exchange: Exchange,
  error: GatewayError,
  tried: Tried,
  status = error.entry.status,
): Promise<void> {
  return finishUnanswered(parts, exchange, {
    outcome: 'failed',
    status,
    error,
    measured: nothingUsed,
    tried,
  });
}

/**
 * An exchange that no channel answered: what could not be converted for anybody was refused before it was sent.
 * @returns the client's error.
 */
export async function finishWithoutResponse(
  parts: FinishParts,
  exchange: Exchange,
  error: unknown,
  tried: Tried,
): Promise<GatewayError> {
  const failure = asGatewayError(parts, exchange.input, error);
  const { errorName } = failure;
  const isRefusal = errorName === 'invalid_value' || errorName === 'too_complex';
  if (tried.attempts.length === 0 && isRefusal) {
    await finishRefused(parts, exchange, failure, tried);
  } else await finishFailed(parts, exchange, failure, tried);
  return failure;
}

/** Nothing is owed for a failure, so the client hears of it even when the row is lost. */
async function finishUnanswered(
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

/** An error that is not from the catalogue is a fault of ours. */
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

/** @throws what billing throws; then nothing is held any more. */
function chargeFor(
  { billing }: Pick<FinishParts, 'billing'>,
  hold: Hold,
  { measured }: Ending,
): ChargeRecord {
  try {
    return billing.charge(hold, measured.lines, measured.source);
  } catch (error) {
    billing.commitHold(hold, null);
    throw error;
  }
}

/** Failures are nobody's debt but the operator's; who leaves a response owes for what there is of it. */
function isOwed({ outcome, measured }: Ending): boolean {
  return (outcome === 'completed' || outcome === 'client-left') && measured.source !== 'none';
}

/** What became of an exchange whose row is lost: a finished response is not shown, a failure is reported regardless. */
function withoutRow(record: ExchangeRecord): ExchangeRecord {
  if (record.outcome !== 'completed') return record;
  return { ...record, outcome: 'failed', status: 503, error: 'unavailable' };
}

function observed(
  parts: Pick<ExchangeParts, 'digestBody'>,
  exchange: Exchange,
  record: ExchangeRecord,
): FinishedExchange {
  const { input, catalogueModel, retryCount } = exchange;
  const modelId = catalogueModel?.id ?? null;
  const { traceparent, tracestate } = input.headers;
  return {
    record,
    keyName: input.caller.keyName,
    modelId,
    retryCount,
    bodyDigest: bodyDigestOf(parts, exchange, record),
    traceparent,
    tracestate,
  };
}

/** Of requests that may come again, and of those that did; the others are not worth the time. */
function bodyDigestOf(
  { digestBody }: Pick<ExchangeParts, 'digestBody'>,
  { input, bodyDigest }: Exchange,
  { status }: ExchangeRecord,
): string | null {
  if (bodyDigest !== null || !mayBeRetried(status) || input.body.length === 0) return bodyDigest;
  return digestBody(input.body);
}
