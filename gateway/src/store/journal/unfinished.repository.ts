import type { OpenDatabase } from '#database/index.ts';
import { splitLines } from '#usage/index.ts';
import { isSound } from './batch.ts';
import { readIntents, type Intent } from './intents.ts';
import type { JournalFile } from './journal-file.repository.ts';
import { readable } from './read-on.ts';

/**
 * Finds the attempts that an earlier process began and of which nothing more is in its journal: it was killed while an
 * upstream worked, and may be billed for it.
 * @param upTo the last batch of that process
 */
function unfinishedIn(file: JournalFile, upTo: number): Intent[] {
  if (!file.hasIntents(upTo)) return [];
  const openIntents = new Map<string, Intent>();
  const nameOf = ({ id, attempt }: Intent) => `${id} ${attempt}`;
  const namesOf = new Map<string, Set<string>>();
  for (const batch of readable(file, 0, upTo)) {
    if (batch.id > upTo) break;
    if (!isSound(batch)) continue;
    for (const intent of batch.intents === null ? [] : readIntents(batch.intents)) {
      openIntents.set(nameOf(intent), intent);
      const names = namesOf.get(intent.id) ?? new Set();
      namesOf.set(intent.id, names.add(nameOf(intent)));
    }
    if (namesOf.size === 0) continue;
    for (const id of idsIn(batch.lines)) {
      for (const name of namesOf.get(id) ?? []) openIntents.delete(name);
      namesOf.delete(id);
    }
  }
  return [...openIntents.values()];
}

/** The ids of records; none if the lines cannot be read. */
function idsIn(lines: string): string[] {
  try {
    return splitLines(lines).map((line) => String(line[0]));
  } catch {
    return [];
  }
}

/** Ids per query: databases limit the parameters of a statement. */
const pageSize = 200;

/**
 * Writes what an earlier process left unfinished to the database.
 * @returns how many attempts were not known before
 */
export async function recordUnfinished(
  { kysely }: OpenDatabase,
  file: JournalFile,
  upTo: number,
): Promise<number> {
  const intents = unfinishedIn(file, upTo);
  let count = 0;
  for (let at = 0; at < intents.length; at += pageSize) {
    const page = intents.slice(at, at + pageSize);
    const ids = page.map(({ id }) => id);
    // A record that left the journal in another way.
    const rows = await kysely.selectFrom('usage').select('id').where('id', 'in', ids).execute();
    const endedIds = new Set(rows.map(({ id }) => id));
    const unfinishedIntents = page.filter(({ id }) => !endedIds.has(id));
    if (unfinishedIntents.length === 0) continue;
    const insertedRows = await kysely
      .insertInto('unfinished_attempts')
      .values(
        unfinishedIntents.map(
          ({ id, attempt, time, keyId, userId, teamId, model, channel, held }) => ({
            id,
            attempt,
            time,
            key_id: keyId,
            user_id: userId,
            team_id: teamId,
            model,
            channel,
            held,
          }),
        ),
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .execute();
    count += insertedRows.length;
  }
  return count;
}
