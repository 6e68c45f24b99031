import { randomBytes } from 'node:crypto';
import {
  type Actor,
  type Administration,
  createFirstAdministrator,
  createFirstKey,
  demoChannel,
  ensureDefaultGroup,
  type IssuedKey,
  offerChannels,
  replacePassword,
  rotateKey,
  withdrawDemo,
} from '#administration/index.ts';
import { bundledModelsOf } from '#catalogue/index.ts';
import {
  type Config,
  type DeclaredChannel,
  kinds,
  parseEntry,
  type ProviderName,
} from '#config/index.ts';
import { hashPassword } from '#database/index.ts';
import { findKey, listUsers } from '#identity/index.ts';
import { readUnshown, writeUnshown } from './unshown-secrets.ts';

/** Secrets that are shown once, because they are stored nowhere in clear text. */
export interface FirstStart {
  readonly admin: { readonly email: string; readonly password: string | null } | null;
  readonly key: string | null;
  /** The file that contains them instead of the greeting; null: they are printed. */
  readonly secretsFile: string | null;
}

export interface FirstStartOptions {
  readonly config: Config;
  /** Runs before anything is created that must be shown; if it throws, nothing is created. */
  readonly beforeSecrets: () => void;
}

const firstKey = 'first';
/** The administrator's opening credit if no file sets one. */
const openingCredit = '100';

const gateway: Actor = { kind: 'gateway' };

/**
 * Creates the first administrator if there is none and the file declares none. Runs before the file is applied, because
 * its keys may belong to the administrator. Returns the password in clear text, this once. If an earlier start created
 * the administrator and was killed before it showed the password, returns a new one.
 */
export async function createFirstAdmin(
  administration: Administration,
  { config, beforeSecrets }: FirstStartOptions,
): Promise<FirstStart['admin']> {
  const { dataDir } = config.storage;
  const isAdmin = ({ role }: { readonly role: string }) => role === 'admin';
  const unshown = readUnshown(dataDir);
  const admins = (await listUsers(administration.database.kysely)).filter(isAdmin);
  const admin = admins.find(({ id }) => id === unshown.admin);
  if (admin === undefined) {
    if (admins.length > 0) return null;
    if (config.declared?.users.some(isAdmin) === true) return null;
  }
  const email = admin?.email ?? config.admin.email;
  const password = config.admin.password ?? randomBytes(12).toString('base64url');
  const passwordHash = await hashPassword(password);
  if (admin === undefined) {
    // Of several nodes in their first start, one creates the administrator.
    const firstAdministrator = await createFirstAdministrator(
      administration,
      gateway,
      parseEntry(kinds.user, { email, role: 'admin', balance: openingCredit }),
      passwordHash,
      (id) => {
        beforeSecrets();
        writeUnshown(dataDir, { admin: id, key: null });
      },
    );
    if (firstAdministrator === null) return null;
  } else {
    await replacePassword(administration, gateway, { email, passwordHash });
  }
  // A password that the operator chose is not printed.
  return { email, password: config.admin.password === null ? password : null };
}

/**
 * Creates something to call and a key to call it with: a channel per provider key in the environment, or else the demo,
 * and a first key. Does nothing that was done before. Returns the key's secret, this once. If an earlier start created
 * the key and was killed before it showed the secret, returns a new one.
 */
export async function offerFirstKey(
  administration: Administration,
  options: FirstStartOptions,
): Promise<FirstStart['key']> {
  await offerChannels(administration, gateway, ownChannels(options.config));
  return (await firstKeyOf(administration, options))?.secret ?? null;
}

async function firstKeyOf(
  administration: Administration,
  { config, beforeSecrets }: FirstStartOptions,
): Promise<IssuedKey | null> {
  const { dataDir } = config.storage;
  const unshown = readUnshown(dataDir);
  const unshownKey =
    unshown.key === null ? null : await findKey(administration.database.kysely, unshown.key);
  if (unshownKey !== null && unshownKey.revokedAt === null && unshownKey.secretOwner === 'system') {
    return rotateKey(administration, gateway, { key: unshownKey.name, grace: 0 });
  }
  // Only for the administrator created here; a file that declares its own accounts declares its keys too.
  const settings = parseEntry(kinds.key, { name: firstKey, user: config.admin.email });
  return createFirstKey(administration, gateway, settings, (id) => {
    beforeSecrets();
    writeUnshown(dataDir, { ...unshown, key: id });
  });
}

/** What exists without any file. */
export function createDefaults(administration: Administration): Promise<void> {
  return ensureDefaultGroup(administration, gateway);
}

/** For a reloaded file, which may declare the first channel. */
export function withdrawOffer(administration: Administration): Promise<void> {
  return withdrawDemo(administration, gateway);
}

/** A channel per provider key, or the demo. */
function ownChannels(config: Config): DeclaredChannel[] {
  const offeredKeys = config.environmentKeys
    .map(({ provider, apiKey }) => channelFor(provider, provider, [apiKey]))
    .filter((channel) => channel.models.length > 0);
  return offeredKeys.length > 0 ? offeredKeys : [channelFor(demoChannel, 'simulator', [])];
}

function channelFor(
  name: string,
  provider: ProviderName,
  apiKeys: readonly string[],
): DeclaredChannel {
  // Requests for a model without a price are refused.
  const pricedModels = bundledModelsOf(provider).filter(({ price }) => price !== null);
  const models = pricedModels.map(({ id }) => id);
  return { ...parseEntry(kinds.channel, { name, provider, models }), apiKeys };
}
