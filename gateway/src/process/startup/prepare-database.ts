import { type Administration, applyFile, recordAudit } from '#administration/index.ts';
import type { Config } from '#config/index.ts';
import {
  claimMasterKey,
  connectDatabase,
  migrate,
  type OpenDatabase,
  openDatabase,
  type Secrets,
} from '#database/index.ts';
import { EarlierFile, type Plan } from '#declaration/index.ts';
import type { Logger } from '#observability/index.ts';
import {
  createDefaults,
  createFirstAdmin,
  offerFirstKey,
  withdrawOffer,
  type FirstStart,
} from './first-start.ts';
import { assertSecretsFile, formatSecrets, writeSecretsFile } from './secrets-file.ts';
import { hasUnshown } from './unshown-secrets.ts';

export interface FileOptions {
  /** The id of this node. */
  readonly node: string;
  /** Puts the file in force although a later one is, and lets it have what the console created. Default: false. */
  readonly takesOver?: boolean;
}

export interface PrepareOptions extends FileOptions {
  /** Where to write the secrets of a first start; absent: nowhere. */
  readonly secretsFile?: string | undefined;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Runs migrations, applies the file's lists and does the first start, before anything is served. The lists of an earlier
 * file are not applied: that is logged, and what is in force is served.
 * @throws Error with a message for the operator.
 */
export async function prepareDatabase(
  config: Config,
  secrets: Secrets,
  preparing: PrepareOptions,
): Promise<FirstStart> {
  const { secretsFile = null } = preparing;
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
    else await applyUnlessEarlier(administration, config, preparing);
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

/** Puts the lists of a reloaded file into force. @throws EarlierFile, DeclarationConflict */
export async function reapplyFile(
  config: Config,
  secrets: Secrets,
  options: FileOptions,
): Promise<void> {
  if (config.declared === null) return;
  const database = openDatabase({ url: config.storage.url, statementTimeout: 0 });
  try {
    const administration = administrationOf(database, secrets, Date.now);
    await applyLists(administration, config, options);
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

/**
 * Applies the lists of a file. Gives what was done.
 * @throws EarlierFile, DeclarationConflict; Error if there is no file
 */
export function applyLists(
  administration: Administration,
  { file, declared, listsDigest }: Pick<Config, 'file' | 'declared' | 'listsDigest'>,
  options: FileOptions,
): Promise<Plan> {
  if (file === null || declared === null || listsDigest === null) {
    throw new Error('there is no configuration file to apply');
  }
  const fingerprint = administration.secrets.digestState(listsDigest);
  return applyFile(administration, { kind: 'file', path: file }, declared, {
    fingerprint,
    ...options,
  });
}

async function applyUnlessEarlier(
  administration: Administration,
  config: Config,
  options: PrepareOptions,
): Promise<void> {
  const { node, takesOver = false, log } = options;
  try {
    await applyLists(administration, config, { node, takesOver });
  } catch (error) {
    if (!(error instanceof EarlierFile)) throw error;
    log.warn('the lists of the configuration file are not applied', { detail: error.message });
  }
}
