import type { Change } from '#database/change.ts';

/** A call that its caller may repeat, as after a lost response. */
export interface RepeatableCall {
  /** The id of a person or an admin key. */
  readonly callerId: string;
  /** Chosen by the caller, for one call and its repetitions. */
  readonly name: string;
  /** A digest of what is asked for. */
  readonly contents: string;
}

/** Milliseconds for which a call is remembered. */
const keep = 86_400_000;

/** What the same caller's call of this name has made; null: there was none. `contents` tells whether it asked for the same. */
export async function findCall(
  { trx, now }: Change,
  { callerId, name }: RepeatableCall,
): Promise<{ readonly contents: string; readonly objectId: string } | null> {
  await trx
    .deleteFrom('repeatable_calls')
    .where('time', '<=', now - keep)
    .execute();
  const row = await trx
    .selectFrom('repeatable_calls')
    .select(['digest', 'object_id'])
    .where('user_id', '=', callerId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row === undefined ? null : { contents: row.digest, objectId: row.object_id };
}

/** Remembers what a call has made, in the transaction that made it. */
export async function keepCall(
  { trx, now }: Change,
  { callerId, name, contents }: RepeatableCall,
  objectId: string,
): Promise<void> {
  await trx
    .insertInto('repeatable_calls')
    .values({ user_id: callerId, name, digest: contents, object_id: objectId, time: now })
    .execute();
}
