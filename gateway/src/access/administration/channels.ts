import { listChannels, resetChannel, type StoredChannel, upsertChannel } from '#catalogue/index.ts';
import { ConfigError, type DeclaredChannel, type JsonMembers, kinds } from '#config/index.ts';
import { isDeepStrictEqual } from 'node:util';
import type { Actor } from './audit.ts';
import type { EntryStore } from './entries.ts';
import { endDemo } from './own-channels.ts';
import { type Administration, perform } from './perform.ts';
import { missingObject } from './refusal.ts';

/** Channels that the console manages. */
export const channelStore: EntryStore<typeof kinds.channel, StoredChannel> = {
  kind: kinds.channel,
  async find({ trx, secrets }, reference) {
    const channels = await listChannels(trx, secrets);
    const byId = channels.find(({ id }) => id === reference);
    return byId ?? channels.find(({ name }) => name === reference) ?? null;
  },
  upsert: upsertChannel,
  merge: mergeChannel,
  check: assertSecretsStay,
  created: async (change) => (await endDemo(change)).auditEntries,
};

/**
 * Ends the pauses of a channel, also of one of the file: on every node, it is asked as if it had never failed.
 * @throws Refusal for one that does not exist
 */
export function endPauses(
  administration: Administration,
  actor: Actor,
  reference: string,
): Promise<StoredChannel> {
  return perform<StoredChannel>(administration, actor, async (change) => {
    const before = await channelStore.find(change, reference);
    if (before === null) throw missingObject('channel', reference);
    const { id, name } = before;
    await resetChannel(change, id);
    const result = { ...before, resetAt: change.now, revision: await change.revision() };
    const subject = { kind: 'channel', id, name } as const;
    return { result, auditEntries: [{ action: 'reset', subject, fields: [] }] };
  });
}

/** What is shown of a secret: enough to tell it from others. */
export function hintOf(secret: string): string {
  return secret.length < 16 ? '…' : `${secret.slice(0, 3)}…${secret.slice(-4)}`;
}

/**
 * The members after a change. A stored credential is kept by its hint, and by its number where several look alike; of the headers, null removes one and those that
 * are not given stay. Another provider brings its own address and protocols.
 */
function mergeChannel(before: JsonMembers, given: JsonMembers): JsonMembers {
  const { provider, api_keys: keys, headers } = given;
  const kept = { ...before };
  if (provider !== undefined && provider !== before['provider']) {
    delete kept['base_url'];
    delete kept['protocols'];
  }
  return {
    ...kept,
    ...given,
    ...(Array.isArray(keys) && { api_keys: keepByHint(secretsOf(before), keys) }),
    ...(isMapping(headers) && { headers: mergeHeaders(before['headers'], headers) }),
  };
}

function keepByHint(stored: readonly string[], given: readonly unknown[]): unknown[] {
  const left = stored.map((key, at) => ({ key, hint: hintOf(key), number: at + 1 }));
  return given.map((item) => {
    if (!isMapping(item)) return item;
    const { hint, number } = item;
    const at = left.findIndex(
      (one) => one.hint === hint && (number === undefined || one.number === number),
    );
    return at < 0 ? item : left.splice(at, 1)[0]?.key;
  });
}

function mergeHeaders(before: unknown, given: JsonMembers): JsonMembers {
  const headers = { ...(isMapping(before) ? before : {}), ...given };
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== null));
}

const secretsOf = (members: JsonMembers): readonly string[] =>
  (members['api_keys'] as readonly string[] | undefined) ?? [];

/**
 * A stored secret is sent to its stored address only: whoever changes where requests go, or what goes with them, has to
 * know it.
 * @throws ConfigError that names the secrets which have to be given again
 */
function assertSecretsStay(
  before: DeclaredChannel | null,
  after: DeclaredChannel,
  given: JsonMembers,
): void {
  if (before === null) return;
  const isElsewhere =
    before.provider !== after.provider ||
    before.baseUrl !== after.baseUrl ||
    before.proxy !== after.proxy;
  const hasOtherHeaders = !isDeepStrictEqual(before.headers, after.headers);
  const keys = given['api_keys'];
  const areKeysNew = Array.isArray(keys) && !keys.some(isMapping);
  const keepsKeys = before.apiKeys.length > 0 && after.apiKeys.length > 0 && !areKeysNew;
  const headers = isMapping(given['headers']) ? given['headers'] : {};
  const keepsHeaders = Object.keys(after.headers).some((name) => !(name in headers));
  const expected = 'it again, because it would be sent to another address or with other headers';
  const problems = [
    ...(keepsKeys && (isElsewhere || hasOtherHeaders) ? ['api_keys'] : []),
    ...(keepsHeaders && isElsewhere ? ['headers'] : []),
  ].map((path) => ({ file: null, line: null, path, expected, got: 'the stored one' }));
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Whether a value of JSON has members. */
function isMapping(value: unknown): value is JsonMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
