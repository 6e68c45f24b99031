import type { Kysely } from 'kysely';
import type { Change, Database } from '#database/index.ts';

/** The lists of a file, and who has it. */
export interface FileRevision {
  /** `Secrets.digestState` of the lists. */
  readonly fingerprint: string;
  /** The id of the node whose file it is. */
  readonly node: string;
}

/** The file in force. */
export interface FileInForce extends FileRevision {
  /** Unix milliseconds since which. */
  readonly time: number;
  readonly number: number;
}

/**
 * The file in force if this one is an earlier one; null: this one is in force, or may be. It is an earlier one if it was
 * in force before, and its node does not have the one in force: a node that has, goes back on purpose.
 */
export async function laterFile(
  db: Kysely<Database>,
  { fingerprint, node }: FileRevision,
): Promise<FileInForce | null> {
  const inForce = await fileInForce(db);
  if (inForce === null || inForce.fingerprint === fingerprint) return null;
  const rows = await db
    .selectFrom('file_revisions')
    .select(['fingerprint', 'node', 'number'])
    .where((where) => where.or([where('fingerprint', '=', fingerprint), where('node', '=', node)]))
    .execute();
  const wasInForce = rows.some((row) => row.fingerprint === fingerprint);
  const hasLater = rows.some((row) => row.node === node && row.number === inForce.number);
  return wasInForce && !hasLater ? inForce : null;
}

/** Records that this file is in force, and that its node has it. Changes nothing if that is known. */
export async function putInForce({ trx, now }: Change, revision: FileRevision): Promise<void> {
  const inForce = await fileInForce(trx);
  const isInForce = inForce?.fingerprint === revision.fingerprint;
  const number = isInForce ? inForce.number : (inForce?.number ?? 0) + 1;
  await trx
    .insertInto('file_revisions')
    .values({ ...revision, number, time: now })
    .onConflict((conflict) =>
      conflict
        .columns(['fingerprint', 'node'])
        .doUpdateSet({ number, time: now })
        .where('file_revisions.number', '<', number),
    )
    .execute();
}

/** Null: no file was ever applied. */
async function fileInForce(db: Kysely<Database>): Promise<FileInForce | null> {
  const first = await db
    .selectFrom('file_revisions')
    .select(['fingerprint', 'node', 'number', 'time'])
    .orderBy('number', 'desc')
    .orderBy('time')
    .limit(1)
    .executeTakeFirst();
  return first ?? null;
}
