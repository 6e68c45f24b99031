import type { Hold, Order } from '#billing/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ResolvedModel } from './find-model.ts';
import type { ExchangeInput } from './input.ts';
import type { ExchangeParts } from './parts.ts';

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
  parts: Pick<ExchangeParts, 'journal' | 'billing' | 'clock' | 'timeouts'>,
  { id, caller }: Pick<ExchangeInput, 'id' | 'caller'>,
  { model, snapshot }: ResolvedModel,
  { bound, isExact }: HoldTerms,
): Hold | null | Promise<Hold | null> {
  const { journal, billing, clock, timeouts } = parts;
  const group = snapshot.groups.get(caller.group);
  // The key's group no longer exists. No channel will serve it, as the search for routes is about to report.
  if (group === undefined) return null;
  if (!journal.usable && !billing.isFree(model, group)) throw new GatewayError('unavailable');
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
