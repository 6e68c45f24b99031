import type { TaskMembers } from '#canonical/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import { openAccess, presentAccess } from './access.ts';
import { readRow } from './task-row.ts';

/** What a task has made, for the copier. */
export interface ResultSource {
  readonly userId: string;
  readonly members: TaskMembers;
  /** Where the task was submitted; null: unknown. */
  readonly origin: string | null;
}

export interface ResultSourceParts {
  readonly database: OpenDatabase;
  readonly secrets: Pick<Secrets, 'open'>;
  readonly snapshot: () => Pick<CatalogueSnapshot, 'channels'>;
}

/** Null: the task is gone. @throws the error of the database, or Error if the master key differs */
export async function readResultSource(
  { database, secrets, snapshot }: ResultSourceParts,
  task: string,
): Promise<ResultSource | null> {
  const row = await database.kysely
    .selectFrom('tasks')
    .selectAll()
    .where('id', '=', task)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { user_id: userId, access, channel_id, members } = readRow(row);
  if (access === null) return { userId, members, origin: null };
  const channel = snapshot().channels.find(({ id }) => id === channel_id);
  const { baseUrl } = presentAccess(openAccess(secrets, task, access), channel);
  return { userId, members, origin: new URL(baseUrl).origin };
}
