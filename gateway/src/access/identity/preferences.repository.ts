import type { Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';

/** What a person has chosen in the console. Absent: nothing. */
export interface Preferences {
  readonly language?: string;
  readonly theme?: string;
  /** Whether the first steps are done, or the person does not want them. */
  readonly welcomed?: boolean;
}

export function readPreferences(text: string | null): Preferences {
  return text === null ? {} : (JSON.parse(text) as Preferences);
}

/** Changes what is given and keeps the rest. */
export async function changePreferences(
  db: Kysely<Database>,
  userId: string,
  changes: Preferences,
): Promise<Preferences> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('users')
      .select('preferences')
      .where('id', '=', userId)
      .executeTakeFirst();
    const preferences = { ...readPreferences(row?.preferences ?? null), ...changes };
    await trx
      .updateTable('users')
      .set({ preferences: JSON.stringify(preferences) })
      .where('id', '=', userId)
      .execute();
    return preferences;
  });
}
