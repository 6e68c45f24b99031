import { postgresUrls } from '#config/index.ts';
import { openDatabase, type DatabaseOptions, type OpenDatabase } from './open.ts';

/**
 * Opens the database and runs one query, so that connection problems show here.
 * @throws Error with a message for the operator, without the password.
 */
export async function connectDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  let database: OpenDatabase | null = null;
  try {
    database = openDatabase(options);
    await database.kysely.selectNoFrom(({ lit }) => lit(1).as('one')).execute();
    return database;
  } catch (cause) {
    await database?.close().catch(() => {});
    if (cause instanceof Error && cause.message.startsWith('storage.url:')) throw cause;
    throw new Error(`storage.url: ${placeOf(options.url)} cannot be used: ${reasonOf(cause)}`, {
      cause,
    });
  }
}

/** The SQLite file of the URL; null for any other database. */
export function sqliteFileOf(url: string): string | null {
  return /^sqlite:(.*)$/s.exec(url)?.[1] ?? null;
}

function placeOf(url: string): string {
  const file = sqliteFileOf(url);
  if (file !== null) return `the database file ${file}`;
  const urls = postgresUrls(url);
  if (!urls.every((each) => URL.canParse(each))) return 'the database';
  const places = urls.map((each) => {
    const { hostname, port, searchParams } = new URL(each);
    const host = hostname || (searchParams.get('host') ?? 'localhost');
    return `${host}:${port || (searchParams.get('port') ?? '5432')}`;
  });
  return `the database at ${places.join(', ')}`;
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing is listening there (ECONNREFUSED)',
  ENOTFOUND: 'no such host (ENOTFOUND)',
  EAI_AGAIN: 'the host name cannot be resolved (EAI_AGAIN)',
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  const explanation = code === undefined ? undefined : words[code];
  return explanation ?? (error.message === '' ? (code ?? error.name) : error.message);
}
