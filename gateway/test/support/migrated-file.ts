import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, openDatabase } from '#database/index.ts';

let migrated: Promise<Buffer> | null = null;

/** Writes a SQLite file with this version's tables, as a first start leaves it. Migrates once per process. */
export async function writeMigratedFile(file: string): Promise<void> {
  writeFileSync(file, await (migrated ??= migrateOnce()), { mode: 0o600 });
}

async function migrateOnce(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-migrated-'));
  try {
    const file = join(folder, 'test.db');
    const database = openDatabase({ url: `sqlite:${file}` });
    await migrate(database);
    await database.close();
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
