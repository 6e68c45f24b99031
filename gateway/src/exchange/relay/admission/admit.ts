import type { Hold, Order } from '#billing/index.ts';
import type { CatalogueSnapshot, Model } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { GatewayError } from '#errors/index.ts';
import { ClientGone, type Exchange, type ExchangeInput, type ExchangeParts } from '../exchange.ts';
import { findModel } from './find-model.ts';
import type { CheckedRequest, Operation, ResolvedModel } from '../operation.ts';
import { asGatewayError, finishDisconnected, finishRefused } from '../ending/finish.ts';
import { nothingTried, nothingUsed } from '../ending/record.ts';

/** A request that may be sent upstream. */
export interface Admitted<Parts> {
  /** The one that serves the request's model (`Operation.instead`). */
  readonly operation: Operation<ExchangeInput, CheckedRequest, unknown, Parts>;
  readonly prepared: unknown;
}

/**
 * Checks a request, holds money for it and finds the routes that can serve it. Refusals come in the documented order.
 * @returns null when the client left before anything was done.
 * @throws GatewayError when it is refused. Its row is durable by then; only a refusal by a rate leaves no row.
 */
export async function admitExchange<Parts extends ExchangeParts>(
  parts: Parts,
  requestedOperation: Operation<ExchangeInput, CheckedRequest, unknown, Parts>,
  exchange: Exchange,
): Promise<Admitted<Parts> | null> {
  const { input } = exchange;
  const { pendingRateCheck } = input;
  try {
    const opening = requestedOperation.open(parts, input);
    let openedRequest = opening instanceof Promise ? await opening : opening;
    const { resolvedModel, operation } = findModel(
      parts,
      exchange,
      requestedOperation,
      openedRequest.model,
    );
    if (operation !== requestedOperation) openedRequest = await operation.open(parts, input);
    let checkedRequest = openedRequest.check(exchange, resolvedModel);
    if (resolvedModel.model.type === 'image') requireChargeable(parts, input, resolvedModel.model);
    // A refusal by a rate comes before anything that waits for others or affects them.
    if (pendingRateCheck !== null) await requireRates(pendingRateCheck);
    const authorizing = operation.authorize?.(parts, exchange, checkedRequest) ?? null;
    if (authorizing !== null) checkedRequest = await authorizing;
    if (!operation.isFree) {
      const holding = holdMoney(parts, input, resolvedModel, {
        bound: (rates) => operation.bound(exchange, checkedRequest, rates),
        isExact: operation.holdsAll === true,
      });
      // The hold is usually there at once; awaiting it would cost a turn of the event loop.
      exchange.hold = holding instanceof Promise ? await holding : holding;
    }
    return { operation, prepared: operation.prepare(parts, exchange, checkedRequest) };
  } catch (error) {
    const rateRefusal = pendingRateCheck === null ? undefined : await pendingRateCheck;
    if (rateRefusal !== undefined) throw rateRefusal;
    if (error instanceof ClientGone) {
      await finishDisconnected(parts, exchange, nothingUsed, nothingTried);
      return null;
    }
    const refusal = asGatewayError(parts, input, error);
    await finishRefused(parts, exchange, refusal);
    throw refusal;
  }
}

/** The operator pays for images that cannot be charged, and only this keeps a client from asking for more of them. */
function requireChargeable(
  { journal }: Pick<ExchangeParts, 'journal'>,
  { caller }: Pick<ExchangeInput, 'caller'>,
  { id }: Model,
): void {
  const retryAfter = journal.unpaidFor(caller.keyId, id);
  if (retryAfter === null) return;
  const headers = { 'x-should-retry': 'false' };
  throw new GatewayError('pictures_unchargeable', { retryAfter, headers });
}

async function requireRates(pendingRateCheck: Promise<Error | undefined>): Promise<void> {
  const rateRefusal = await pendingRateCheck;
  if (rateRefusal !== undefined) throw rateRefusal;
}

/**
 * An exchange ends well within this time after its last deadline. If it has not, its process is gone, and the hold is
 * void.
 */
const finishMs = 60_000;

const longest = new WeakMap<CatalogueSnapshot, number>();

/** The longest time limit of all channels, because the channel is not yet known when money is held. */
function longestTotal(snapshot: CatalogueSnapshot, { total }: Timeouts): number {
  let milliseconds = longest.get(snapshot);
  if (milliseconds === undefined) {
    milliseconds = Math.max(total, ...snapshot.channels.map(({ timeouts }) => timeouts.total ?? 0));
    longest.set(snapshot, milliseconds);
  }
  return milliseconds;
}

/** What an operation says about its holds. */
export interface HoldTerms extends Pick<Order, 'bound'> {
  /** All of the bound, or a refusal. */
  readonly isExact: boolean;
}

/**
 * Holds the most that the request can cost. A request that costs something needs a journal that can record it; a free
 * one is served without.
 * @throws GatewayError when nothing can be recorded, or a limit is used up.
 */
export function holdMoney(
  parts: Pick<ExchangeParts, 'journal' | 'revisions' | 'billing' | 'clock' | 'timeouts'>,
  { id, caller }: Pick<ExchangeInput, 'id' | 'caller'>,
  { model, group, snapshot }: ResolvedModel,
  { bound, isExact }: HoldTerms,
): Hold | null | Promise<Hold | null> {
  const { journal, revisions, billing, clock, timeouts } = parts;
  const problem = revisions.isOutdated ? 'outdated' : journal.usable ? null : 'unavailable';
  if (problem !== null && !billing.isFree(model, group)) throw new GatewayError(problem);
  return billing.hold({
    id,
    caller,
    model,
    group,
    bound,
    isExact,
    expiresAt: clock.now() + longestTotal(snapshot, timeouts) + finishMs,
  });
}
