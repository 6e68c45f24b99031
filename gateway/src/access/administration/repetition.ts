import type { Change } from '#database/index.ts';
import { findCall, type RepeatableCall } from '#identity/index.ts';
import { Refusal } from './refusal.ts';

/**
 * The id of what an earlier call of this name has made; null: this is the first.
 * @param call undefined: the call is not repeated
 * @throws Refusal for an earlier call that asked for something else
 */
export async function repeatedObject(
  change: Change,
  call: RepeatableCall | undefined,
): Promise<string | null> {
  const earlier = call === undefined ? null : await findCall(change, call);
  if (earlier === null) return null;
  if (earlier.contents === call?.contents) return earlier.objectId;
  throw new Refusal('repeated', 'this Idempotency-Key was used for another request');
}
