import { randomBytes } from 'node:crypto';
import {
  createKey,
  findUserByEmail,
  listKeys,
  listUsers,
  setPassword,
  upsertUser,
} from '../access/index.ts';
import {
  bundledModelsOf,
  listChannels,
  upsertChannel,
  disableChannel,
  type StoredChannel,
} from '../catalogue/index.ts';
import {
  providerDefaults,
  type Config,
  type DeclaredChannel,
  type ProviderName,
} from '../config/index.ts';
import {
  createChange,
  hashPassword,
  type Change,
  type OpenDatabase,
  type Secrets,
} from '../database/index.ts';
import { lockDeclaration } from '../declaration/index.ts';

/** What is printed once, because it is kept nowhere in clear text. */
export interface FirstStart {
  readonly admin: { readonly email: string; readonly password: string | null } | null;
  readonly key: string | null;
}

const demoChannel = 'demo';
const firstKey = 'first';
/** Opening credit of the administrator where no file says otherwise. */
const openingCredit = '100';

/**
 * The first administrator, when there is none and the file names none either. Before the file is applied, because
 * its keys may belong to the administrator. Gives the password in clear, this once.
 */
export async function createFirstAdmin(
  database: OpenDatabase,
  secrets: Secrets,
  config: Config,
  now: number,
): Promise<FirstStart['admin']> {
  const isAdmin = ({ role }: { readonly role: string }) => role === 'admin';
  if ((await listUsers(database.kysely)).some(isAdmin)) return null;
  if (config.declared?.users.some(isAdmin) === true) return null;
  const { email } = config.admin;
  const password = config.admin.password ?? randomBytes(12).toString('base64url');
  const passwordHash = await hashPassword(password);
  const created = await database.kysely.transaction().execute(async (trx) => {
    // Of nodes that start for the first time together, one gets here first.
    await lockDeclaration(trx, database.dialect);
    if ((await listUsers(trx)).some(isAdmin)) return false;
    const change = createChange(trx, { owner: 'system', secrets, now });
    await upsertUser(change, {
      email,
      name: null,
      role: 'admin',
      balance: openingCredit,
      quota: null,
      enabled: true,
    });
    await setPassword(change, email, passwordHash);
    return true;
  });
  if (!created) return null;
  // A password that the operator chose is not repeated to a terminal.
  return { email, password: config.admin.password === null ? password : null };
}

/**
 * Something to call and a key to call it with: a channel for each provider key in the environment, or else the
 * demo, and a first key. Does nothing that has been done before. Gives the key's secret, this once.
 */
export async function offerFirstKey(
  database: OpenDatabase,
  secrets: Secrets,
  config: Config,
  now: number,
): Promise<FirstStart['key']> {
  return database.kysely.transaction().execute(async (trx) => {
    await lockDeclaration(trx, database.dialect);
    const change = createChange(trx, { owner: 'system', secrets, now });
    await offerChannels(change, config);
    return createFirstKey(change, config);
  });
}

async function createFirstKey(change: Change, config: Config): Promise<string | null> {
  if ((await listKeys(change.trx, { limit: 1 })).length > 0) return null;
  // Only the administrator who was created here; a file that declares its own accounts declares its keys too.
  if ((await findUserByEmail(change.trx, config.admin.email)) === null) return null;
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
  return created.secret;
}

/** The demo goes once somebody has made a channel of their own. For a file that was read again. */
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

/** Gives whether somebody has made a channel of their own. */
async function endDemo(change: Change, existing: readonly StoredChannel[]): Promise<boolean> {
  if (existing.every(({ owner }) => owner === 'system')) return false;
  const demo = existing.find(({ name, owner }) => name === demoChannel && owner === 'system');
  if (demo !== undefined) await disableChannel(change, demoChannel);
  return true;
}

/** A channel per provider key, or the demo; nothing once somebody has made a channel of their own. */
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

function channelFor(
  name: string,
  provider: ProviderName,
  apiKeys: readonly string[],
): DeclaredChannel {
  const { baseUrl, protocols } = providerDefaults[provider];
  return {
    name,
    provider,
    baseUrl,
    apiKeys,
    protocols,
    groups: ['default'],
    models: bundledModelsOf(provider)
      // What cannot be called is not offered: images and video have no endpoints yet, and what has no price is refused.
      .filter(({ type, price }) => type === 'chat' && price !== null)
      .map(({ id }) => ({ name: id, upstream: id })),
    priority: 0,
    weight: 1,
    userAgents: [],
    headers: {},
    timeouts: {},
    billsAfterCancel: false,
    enabled: true,
  };
}
