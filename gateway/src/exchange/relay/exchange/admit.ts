import type { Model } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { ClientGone } from './client-gone.ts';
import type { Exchange } from './exchange.ts';
import { findModel } from './find-model.ts';
import { asGatewayError, finishDisconnected, finishRefused } from './finish.ts';
import { holdMoney } from './hold-money.ts';
import type { ExchangeInput } from './input.ts';
import type { Operation } from './operation.ts';
import type { ExchangeParts } from './parts.ts';
import { nothingUsed } from './measured.ts';
import { nothingTried } from './tried.ts';

/** A request that may be sent upstream. */
export interface Admitted {
  /** The one that serves the request's model (`Operation.instead`). */
  readonly operation: Operation;
  readonly prepared: unknown;
}

/**
 * Checks a request, holds money for it and finds the routes that can serve it. Refusals come in the documented order.
 * @returns null when the client left before anything was done.
 * @throws GatewayError when it is refused. Its row is durable by then; only a refusal by a rate leaves no row.
 */
export async function admitExchange(
  parts: ExchangeParts,
  asked: Operation,
  exchange: Exchange,
): Promise<Admitted | null> {
  const { input } = exchange;
  const { pendingRateCheck } = input;
  try {
    const opening = asked.open(input);
    let opened = opening instanceof Promise ? await opening : opening;
    const operationFor = (type: Model['type']): Operation | null =>
      type === asked.modelType ? asked : (asked.instead?.(input, type) ?? null);
    const serves = (type: Model['type']): boolean => operationFor(type) !== null;
    const resolved = findModel(parts, exchange, serves, opened.model);
    const operation = operationFor(resolved.model.type) ?? asked;
    if (operation !== asked) opened = await operation.open(input);
    let checked = opened.check(exchange, resolved);
    if (resolved.model.type === 'image') requireChargeable(parts, input, resolved.model);
    // A refusal by a rate comes before anything that waits for others or affects them.
    if (pendingRateCheck !== null) await requireRates(pendingRateCheck);
    const authorize = operation.authorize?.(exchange, checked) ?? null;
    if (authorize !== null) checked = await authorize();
    if (!operation.isFree) {
      const held = holdMoney(parts, input, resolved, {
        bound: (rates) => operation.bound(exchange, checked, rates),
        isExact: operation.holdsAll === true,
      });
      // The hold is usually there at once; awaiting it would cost a turn of the event loop.
      exchange.hold = held instanceof Promise ? await held : held;
    }
    return { operation, prepared: operation.prepare(exchange, checked) };
  } catch (error) {
    const refused = pendingRateCheck === null ? undefined : await pendingRateCheck;
    if (refused !== undefined) throw refused;
    if (error instanceof ClientGone) {
      await finishDisconnected(parts, exchange, nothingUsed, nothingTried);
      return null;
    }
    const refusal = asGatewayError(parts, input, error);
    await finishRefused(parts, exchange, refusal);
    throw refusal;
  }
}

/** The operator pays for pictures that cannot be charged, and only this keeps a client from asking for more of them. */
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
  const refused = await pendingRateCheck;
  if (refused !== undefined) throw refused;
}
