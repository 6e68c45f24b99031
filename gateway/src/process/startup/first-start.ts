import { randomBytes } from 'node:crypto';
import {
  createKey,
  findKey,
  findUserByEmail,
  listKeys,
  listUsers,
  rotateKey,
  setPassword,
  upsertUser,
} from '#identity/index.ts';
import {
  bundledModelsOf,
  listChannels,
  upsertChannel,
  disableChannel,
  type StoredChannel,
} from '#catalogue/index.ts';
import type { Config, DeclaredChannel, ModelType, ProviderName } from '#config/index.ts';
import {
  createChange,
  hashPassword,
  type Change,
  type OpenDatabase,
  type Secrets,
} from '#database/index.ts';
import { lockDeclaration } from '#declaration/index.ts';
import { vendorFacts } from '#vendors/index.ts';
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
  readonly secrets: Secrets;
  /** Unix milliseconds. */
  readonly now: number;
  /** Runs before anything is created that must be shown; if it throws, nothing is created. */
  readonly beforeSecrets: () => void;
}

const demoChannel = 'demo';
const firstKey = 'first';
/** The administrator's opening credit if no file sets one. */
const openingCredit = '100';

/**
 * Creates the first administrator if there is none and the file declares none. Runs before the file is applied, because
 * its keys may belong to the administrator. Returns the password in clear text, this once. If an earlier start created
 * the administrator and was killed before it showed the password, returns a new one.
 */
export async function createFirstAdmin(
  database: OpenDatabase,
  { config, secrets, now, beforeSecrets }: FirstStartOptions,
): Promise<FirstStart['admin']> {
  const { dataDir } = config.storage;
  const isAdmin = ({ role }: { readonly role: string }) => role === 'admin';
  const unshown = readUnshown(dataDir);
  const admins = (await listUsers(database.kysely)).filter(isAdmin);
  const left = admins.find(({ id }) => id === unshown.admin);
  if (left === undefined) {
    if (admins.length > 0) return null;
    if (config.declared?.users.some(isAdmin) === true) return null;
  }
  const email = left?.email ?? config.admin.email;
  const password = config.admin.password ?? randomBytes(12).toString('base64url');
  const passwordHash = await hashPassword(password);
  const created = await database.kysely.transaction().execute(async (trx) => {
    // Of several nodes in their first start, one gets here first.
    await lockDeclaration(trx, database.dialect);
    const change = createChange(trx, { owner: 'system', secrets, now });
    if (left !== undefined) {
      await setPassword(change, email, passwordHash);
      return true;
    }
    if ((await listUsers(trx)).some(isAdmin)) return false;
    beforeSecrets();
    await upsertUser(change, {
      email,
      name: null,
      role: 'admin',
      balance: openingCredit,
      quota: null,
      enabled: true,
    });
    await setPassword(change, email, passwordHash);
    const user = await findUserByEmail(trx, email);
    writeUnshown(dataDir, { admin: user?.id ?? null, key: null });
    return true;
  });
  if (!created) return null;
  // A password that the operator chose is not printed.
  return { email, password: config.admin.password === null ? password : null };
}

/**
 * Creates something to call and a key to call it with: a channel per provider key in the environment, or else the demo,
 * and a first key. Does nothing that was done before. Returns the key's secret, this once. If an earlier start created
 * the key and was killed before it showed the secret, returns a new one.
 */
export async function offerFirstKey(
  database: OpenDatabase,
  { config, secrets, now, beforeSecrets }: FirstStartOptions,
): Promise<FirstStart['key']> {
  return database.kysely.transaction().execute(async (trx) => {
    await lockDeclaration(trx, database.dialect);
    const change = createChange(trx, { owner: 'system', secrets, now });
    await offerChannels(change, config);
    return createFirstKey(change, config, beforeSecrets);
  });
}

async function createFirstKey(
  change: Change,
  config: Config,
  beforeSecrets: () => void,
): Promise<string | null> {
  const { dataDir } = config.storage;
  const unshown = readUnshown(dataDir);
  const left = unshown.key === null ? null : await findKey(change.trx, unshown.key);
  if (left !== null && left.revokedAt === null && left.secretOwner === 'system') {
    return (await rotateKey(change, left.name, 0)).secret;
  }
  if ((await listKeys(change.trx, { limit: 1 })).length > 0) return null;
  // Only for the administrator created here; a file that declares its own accounts declares its keys too.
  if ((await findUserByEmail(change.trx, config.admin.email)) === null) return null;
  beforeSecrets();
  const created = await createKey(change, {
    name: firstKey,
    user: config.admin.email,
    team: null,
    group: 'default',
    models: [],
    quota: null,
    expiresAt: null,
    ips: [],
    rpm: null,
    rph: null,
    maxConcurrency: null,
    conversion: 'lenient',
    enabled: true,
  });
  writeUnshown(dataDir, { ...unshown, key: created.key.id });
  return created.secret;
}

/** Removes the demo once somebody has created a channel. For a reloaded file. */
export async function withdrawDemo(
  database: OpenDatabase,
  secrets: Secrets,
  now: number,
): Promise<void> {
  await database.kysely.transaction().execute(async (trx) => {
    await lockDeclaration(trx, database.dialect);
    const change = createChange(trx, { owner: 'system', secrets, now });
    await endDemo(change, await listChannels(trx, secrets));
  });
}

/** Returns whether somebody has created a channel. */
async function endDemo(change: Change, existing: readonly StoredChannel[]): Promise<boolean> {
  if (existing.every(({ owner }) => owner === 'system')) return false;
  const demo = existing.find(({ name, owner }) => name === demoChannel && owner === 'system');
  if (demo !== undefined) await disableChannel(change, demoChannel);
  return true;
}

/** A channel per provider key, or the demo; nothing once somebody has created a channel. */
async function offerChannels(change: Change, config: Config): Promise<void> {
  const existing = await listChannels(change.trx, change.secrets);
  if (await endDemo(change, existing)) return;
  const offered = config.environmentKeys
    .map(({ provider, apiKey }) => channelFor(provider, provider, [apiKey]))
    .filter((channel) => channel.models.length > 0);
  if (offered.length === 0) offered.push(channelFor(demoChannel, 'simulator', []));
  for (const channel of offered) await upsertChannel(change, channel);
  for (const channel of existing) {
    const stays = offered.some((each) => each.name === channel.name);
    if (!stays) await disableChannel(change, channel.name);
  }
}

const callableTypes: ReadonlySet<string> = new Set(['chat', 'embedding'] satisfies ModelType[]);

function channelFor(
  name: string,
  provider: ProviderName,
  apiKeys: readonly string[],
): DeclaredChannel {
  const { baseUrl, protocols } = vendorFacts[provider];
  return {
    name,
    provider,
    baseUrl,
    apiKeys,
    protocols,
    groups: ['default'],
    models: bundledModelsOf(provider)
      // Only callable models are offered: images and video have no endpoints yet, and unpriced models are refused.
      .filter(({ type, price }) => callableTypes.has(type) && price !== null)
      .map(({ id }) => ({ name: id, upstream: id })),
    priority: 0,
    weight: 1,
    userAgents: [],
    headers: {},
    timeouts: {},
    billsAfterCancel: false,
    state: 'guarded',
    sharedState: [],
    enabled: true,
  };
}
