import type { Hold, Order } from '#billing/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ResolvedModel } from './find-model.ts';
import type { ExchangeInput } from './input.ts';
import type { ExchangeParts } from './parts.ts';

/** After its last deadline an exchange is finished well within this, or its process is gone and its hold is void. */
const finishMs = 60_000;

const longest = new WeakMap<CatalogueSnapshot, number>();

/** The most time that any channel gives a response: which one it will be is not known when money is held. */
function longestTotal(snapshot: CatalogueSnapshot, { total }: Timeouts): number {
  let milliseconds = longest.get(snapshot);
  if (milliseconds === undefined) {
    milliseconds = Math.max(total, ...snapshot.channels.map(({ timeouts }) => timeouts.total ?? 0));
    longest.set(snapshot, milliseconds);
  }
  return milliseconds;
}

/**
 * Sets aside what the request may cost. What costs something needs a journal that can take its row; what does not is
 * served without one.
 * @throws GatewayError when nothing can be recorded, or something is used up.
 */
export function holdMoney(
  parts: Pick<ExchangeParts, 'journal' | 'billing' | 'clock' | 'timeouts'>,
  { id, caller }: Pick<ExchangeInput, 'id' | 'caller'>,
  { model, snapshot }: ResolvedModel,
  bound: Order['bound'],
): Hold | null | Promise<Hold | null> {
  const { journal, billing, clock, timeouts } = parts;
  const group = snapshot.groups.get(caller.group);
  // A key of a group that is gone: nothing will serve it, as the search for channels is about to say.
  if (group === undefined) return null;
  if (!journal.usable && !billing.isFree(model, group)) throw new GatewayError('unavailable');
  return billing.hold({
    id,
    caller,
    model,
    group,
    bound,
    expiresAt: clock.now() + longestTotal(snapshot, timeouts) + finishMs,
  });
}
