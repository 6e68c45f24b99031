import type { Kysely, Selectable, Transaction } from 'kysely';
import type { DeclaredChannel, ProviderName } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from '#database/change.ts';
import { bit, createId, differs, ownedFields, type Stored } from '#database/rows.ts';
import type { ChannelTable, Database } from '#database/schema.ts';
import type { Secrets } from '#database/secrets.ts';

/** With credentials in clear text: for memory, never for output. */
export type StoredChannel = Stored<DeclaredChannel> & { readonly id: string };

type Sealed = Pick<DeclaredChannel, 'apiKeys' | 'headers'> &
  Partial<Pick<DeclaredChannel, 'proxy'>>;
type Settings = Pick<
  DeclaredChannel,
  | 'protocols'
  | 'groups'
  | 'models'
  | 'userAgents'
  | 'timeouts'
  | 'billsAfterCancel'
  | 'cache'
  | 'state'
  | 'sharedState'
>;

/** Values for rows that were written before the setting existed. */
const settingDefaults = {
  state: 'guarded',
  cache: 'auto',
  sharedState: [],
  proxy: null,
} satisfies Partial<DeclaredChannel>;

/** @throws Error if this master key cannot decrypt a credential. */
export async function listChannels(
  db: Kysely<Database>,
  secrets: Secrets,
): Promise<StoredChannel[]> {
  const rows = await db.selectFrom('channels').selectAll().orderBy('name').execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    provider: row.provider as ProviderName,
    baseUrl: row.base_url,
    priority: row.priority,
    weight: row.weight,
    ...settingDefaults,
    ...(JSON.parse(row.settings) as Settings),
    ...(JSON.parse(secrets.open(row.credentials, sealContext(row.id))) as Sealed),
    ...ownedFields(row),
  }));
}

/** @throws OwnedElsewhere if the channel has another owner. */
export async function upsertChannel(change: Change, channel: DeclaredChannel): Promise<Upserted> {
  const { trx, owner, now } = change;
  const existing = await find(trx, channel.name);
  const values = {
    provider: channel.provider,
    base_url: channel.baseUrl,
    settings: toSettings(channel),
    priority: channel.priority,
    weight: channel.weight,
    owner,
    enabled: bit(channel.enabled),
  };
  if (existing === undefined) {
    const id = createId('ch');
    await trx
      .insertInto('channels')
      .values({
        ...values,
        id,
        name: channel.name,
        credentials: change.secrets.seal(toSealed(channel), sealContext(id)),
        created_at: now,
        updated_at: now,
        revision: await change.revision(),
      })
      .execute();
    return 'created';
  }
  assertMayChange(change, 'channel', channel.name, existing.owner);
  const credentials = keepOrSeal(change.secrets, existing, toSealed(channel));
  if (!differs(existing, { ...values, credentials })) return 'unchanged';
  await update(change, channel.name, { ...values, credentials });
  return 'updated';
}

/** False if it does not exist or is already disabled. */
export async function disableChannel(change: Change, name: string): Promise<boolean> {
  const existing = await find(change.trx, name);
  if (existing === undefined || existing.enabled === 0) return false;
  assertMayChange(change, 'channel', name, existing.owner);
  await update(change, name, { enabled: 0 });
  return true;
}

/** Sealing the same text twice gives different results, so unchanged credentials keep their sealed form. */
function keepOrSeal(secrets: Secrets, row: Selectable<ChannelTable>, text: string): string {
  const context = sealContext(row.id);
  return secrets.open(row.credentials, context) === text
    ? row.credentials
    : secrets.seal(text, context);
}

/** Headers are sealed too, because they often carry a second credential; a proxy may want one. */
function toSealed({ apiKeys, headers, proxy }: DeclaredChannel): string {
  return JSON.stringify({ apiKeys, headers, ...(proxy !== null && { proxy }) } satisfies Sealed);
}

/** In a fixed order, so that equal settings are equal text. */
function toSettings(channel: DeclaredChannel): string {
  return JSON.stringify({
    protocols: channel.protocols,
    groups: channel.groups,
    models: channel.models,
    userAgents: channel.userAgents,
    timeouts: channel.timeouts,
    billsAfterCancel: channel.billsAfterCancel,
    cache: channel.cache,
    state: channel.state,
    sharedState: channel.sharedState,
  } satisfies Settings);
}

function sealContext(id: string): string {
  return `channel:${id}:credentials`;
}

function find(trx: Transaction<Database>, name: string) {
  return trx.selectFrom('channels').selectAll().where('name', '=', name).executeTakeFirst();
}

async function update(change: Change, name: string, values: object): Promise<void> {
  await change.trx
    .updateTable('channels')
    .set({ ...values, updated_at: change.now, revision: await change.revision() })
    .where('name', '=', name)
    .execute();
}
