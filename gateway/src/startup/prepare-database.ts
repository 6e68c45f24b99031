import type { Config } from '../config/index.ts';
import {
  claimMasterKey,
  connectDatabase,
  migrate,
  openDatabase,
  type Secrets,
} from '../database/index.ts';
import { applyDeclaration, ensureDefaultGroup } from '../declaration/index.ts';
import { createFirstAdmin, offerFirstKey, withdrawDemo, type FirstStart } from './first-start.ts';

/** Migrations, the file's lists and the first start, before anything is served. */
export async function prepareDatabase(config: Config, secrets: Secrets): Promise<FirstStart> {
  const database = await connectDatabase({
    url: config.storage.url,
    transport: 'in-thread',
    statementTimeout: 0,
  });
  try {
    await migrate(database);
    await claimMasterKey(database, secrets);
    const now = Date.now();
    const admin = await createFirstAdmin(database, secrets, config, now);
    if (config.declared === null) await ensureDefaultGroup(database, secrets, now);
    else await applyDeclaration(database, secrets, config.declared, now);
    return { admin, key: await offerFirstKey(database, secrets, config, now) };
  } finally {
    await database.close();
  }
}

/** Makes the lists of a file that was read again effective. */
export async function applyFile(config: Config, secrets: Secrets): Promise<void> {
  if (config.declared === null) return;
  const database = openDatabase({ url: config.storage.url, statementTimeout: 0 });
  try {
    await applyDeclaration(database, secrets, config.declared);
    await withdrawDemo(database, secrets, Date.now());
  } finally {
    await database.close();
  }
}
