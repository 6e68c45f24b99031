import type { OpenDatabase } from './open.ts';
import type { Secrets } from './secrets.ts';

const id = 'master';

/**
 * Binds the database to the master key of its first use. Another key would give every client key another hash and could
 * decrypt no credential.
 * @throws Error with a message for the operator if the database belongs to another master key.
 */
export async function claimMasterKey(
  { kysely }: OpenDatabase,
  { fingerprint }: Pick<Secrets, 'fingerprint'>,
): Promise<void> {
  await kysely
    .insertInto('master_key')
    .values({ id, fingerprint })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  const kept = await kysely
    .selectFrom('master_key')
    .select('fingerprint')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  if (kept.fingerprint === fingerprint) return;
  throw new Error(
    'secrets.master_key: the database was created with another master key; give this node that key, as secrets.master_key or as the file master.key in storage.data_dir',
  );
}
