import type { Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';

/** What a person has chosen in the console. Absent: nothing. */
export interface Preferences {
  readonly language?: string;
  readonly theme?: string;
  /** Whether the first steps are done, or the person does not want them. */
  readonly welcomed?: boolean;
  /** Views of pages that the person has kept. */
  readonly views?: readonly View[];
  /** Columns that the person does not want to see, by table. */
  readonly hidden_columns?: Readonly<Record<string, readonly string[]>>;
}

/** What a page shows, under a name. */
export interface View {
  readonly name: string;
  /** Absent: `requests`. */
  readonly page?: 'requests' | 'usage' | 'records' | undefined;
  /** What stands behind the `?` of its address. */
  readonly search: string;
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
