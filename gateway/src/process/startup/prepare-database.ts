import { type Actor, type Administration, applyFile, recordAudit } from '#administration/index.ts';
import type { Config } from '#config/index.ts';
import {
  claimMasterKey,
  connectDatabase,
  migrate,
  type OpenDatabase,
  openDatabase,
  type Secrets,
} from '#database/index.ts';
import {
  createDefaults,
  createFirstAdmin,
  offerFirstKey,
  withdrawOffer,
  type FirstStart,
} from './first-start.ts';
import { assertSecretsFile, formatSecrets, writeSecretsFile } from './secrets-file.ts';
import { hasUnshown } from './unshown-secrets.ts';

/**
 * Runs migrations, applies the file's lists and does the first start, before anything is served.
 * @param secretsFile where to write the secrets of a first start; null: nowhere
 * @throws Error with a message for the operator.
 */
export async function prepareDatabase(
  config: Config,
  secrets: Secrets,
  secretsFile: string | null = null,
): Promise<FirstStart> {
  const database = await connectDatabase({
    url: config.storage.url,
    transport: 'in-thread',
    statementTimeout: 0,
  });
  try {
    await migrate(database);
    await claimMasterKey(database, secrets);
    const now = Date.now();
    const administration = administrationOf(database, secrets, () => now);
    const isRepeated = hasUnshown(config.storage.dataDir);
    const beforeSecrets = () => {
      if (secretsFile !== null) assertSecretsFile(secretsFile);
    };
    const options = { config, beforeSecrets };
    const admin = await createFirstAdmin(administration, options);
    if (config.declared === null) await createDefaults(administration);
    else await applyFile(administration, fileOf(config), config.declared);
    const key = await offerFirstKey(administration, options);
    if (secretsFile === null || (admin === null && key === null)) {
      return { admin, key, secretsFile: null };
    }
    writeSecretsFile(secretsFile, formatSecrets({ admin, key }), isRepeated);
    return { admin, key, secretsFile };
  } finally {
    await database.close();
  }
}

/** Puts the lists of a reloaded file into force. */
export async function reapplyFile(config: Config, secrets: Secrets): Promise<void> {
  if (config.declared === null) return;
  const database = openDatabase({ url: config.storage.url, statementTimeout: 0 });
  try {
    const administration = administrationOf(database, secrets, Date.now);
    await applyFile(administration, fileOf(config), config.declared);
    await withdrawOffer(administration);
  } finally {
    await database.close();
  }
}

function administrationOf(
  database: OpenDatabase,
  secrets: Secrets,
  now: () => number,
): Administration {
  return { database, secrets, audit: recordAudit, now };
}

function fileOf({ file }: Config): Actor {
  return { kind: 'file', path: file ?? '' };
}
