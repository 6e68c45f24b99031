import type { Kysely } from 'kysely';
import type { Change, Database } from '#database/index.ts';
import {
  erasedName,
  jsonWithoutPerson,
  withoutPerson,
  type ErasedPerson,
} from './erased-person.ts';

/** So that a large log needs little memory. */
const pageSize = 1_000;

/** Replaces a person in the ledger's actors and reasons; amounts and accounts stay. Returns the number of entries. */
export async function eraseFromLedger(db: Kysely<Database>, person: ErasedPerson): Promise<number> {
  const entries = await db
    .selectFrom('ledger_entries')
    .select(['transaction_id', 'account', 'actor', 'reason'])
    .where('kind', '<>', 'usage')
    .execute();
  const transactions = new Set(
    entries.flatMap(({ account, transaction_id: id }) =>
      account === `user:${person.id}` ? [id] : [],
    ),
  );
  let count = 0;
  for (const { transaction_id: transaction, account, actor, reason } of entries) {
    const isTheirs = transactions.has(transaction);
    const values = {
      actor: actor && withoutPerson(actor, person, isTheirs),
      reason: reason && withoutPerson(reason, person, isTheirs),
    };
    if (values.actor === actor && values.reason === reason) continue;
    await db
      .updateTable('ledger_entries')
      .set(values)
      .where('transaction_id', '=', transaction)
      .where('account', '=', account)
      .execute();
    count += 1;
  }
  return count;
}

/**
 * Replaces a person in the audit log, as the one who acted and in what was done, and removes the addresses from which the
 * person acted. Returns the number of lines.
 * @param renamedKeys ids of keys whose names had the person's, with their new names
 */
export async function eraseFromAudit(
  db: Kysely<Database>,
  person: ErasedPerson,
  renamedKeys: ReadonlyMap<string, string>,
): Promise<number> {
  let count = 0;
  let last = 0;
  for (;;) {
    const lines = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('id', '>', last)
      .orderBy('id')
      .limit(pageSize)
      .execute();
    for (const { id, ...line } of lines) {
      const isAbout = line.object_id === person.id || line.object_name === person.email;
      const isBy = line.actor_id === person.id || line.actor_name === person.email;
      const isTheirs = isAbout || isBy || renamedKeys.has(line.object_id ?? '');
      const objectName = withoutPerson(line.object_name, person, isTheirs);
      const values = {
        actor_name: isBy ? person.newEmail : withoutPerson(line.actor_name, person, false),
        address: isBy || (isAbout && line.object_kind === 'session') ? null : line.address,
        object_name: renamedKeys.get(line.object_id ?? '') ?? objectName,
        changes: isAbout
          ? withoutNames(jsonWithoutPerson(line.changes, person, isTheirs))
          : jsonWithoutPerson(line.changes, person, isTheirs),
        reason: line.reason && withoutPerson(line.reason, person, isTheirs),
      };
      const isSame = Object.entries(values).every(
        ([column, value]) => line[column as keyof typeof values] === value,
      );
      if (isSame) continue;
      await db.updateTable('audit_log').set(values).where('id', '=', id).execute();
      count += 1;
    }
    const end = lines.at(-1)?.id;
    if (end === undefined) return count;
    last = end;
  }
}

/** A person's earlier names, which nothing else has any more. */
function withoutNames(changes: string): string {
  const all = JSON.parse(changes) as { field: string; before: unknown; after: unknown }[];
  const named = (value: unknown) => (value === null ? null : erasedName);
  return JSON.stringify(
    all.map((change) =>
      change.field === 'name'
        ? { ...change, before: named(change.before), after: named(change.after) }
        : change,
    ),
  );
}

/** Removes what a person's repeated calls were called. */
export async function eraseCalls({ trx }: Pick<Change, 'trx'>, userId: string): Promise<void> {
  await trx.deleteFrom('repeatable_calls').where('user_id', '=', userId).execute();
}

/** Removes the texts of errors in a person's requests: they may repeat what the person sent. */
export async function eraseErrorTexts({ trx }: Pick<Change, 'trx'>, userId: string): Promise<void> {
  await trx
    .updateTable('usage_errors')
    .set({ text: null })
    .where('text', 'is not', null)
    .where('id', 'in', trx.selectFrom('usage').select('id').where('user_id', '=', userId))
    .execute();
}
