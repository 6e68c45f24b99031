import {
  disableChannel,
  listChannels,
  type StoredChannel,
  upsertChannel,
} from '#catalogue/index.ts';
import { type DeclaredChannel, kinds } from '#config/index.ts';
import type { Change } from '#database/index.ts';
import { compareFields, fieldsOf } from '#declaration/index.ts';
import type { Actor, AuditEntry } from './audit.ts';
import { type Administration, type Done, perform } from './perform.ts';

/** The gateway's own channel for demonstrations. */
export const demoChannel = 'demo';

/**
 * Makes these the gateway's own channels, and disables its others. Once somebody has created a channel, only the demo
 * is disabled.
 */
export function offerChannels(
  administration: Administration,
  actor: Actor,
  offeredChannels: readonly DeclaredChannel[],
): Promise<void> {
  return perform(administration, actor, async (change) => {
    const existing = await listChannels(change.trx, change.secrets);
    if (!isOnlyOwn(existing)) return endDemo(change);
    const auditEntries: AuditEntry[] = [];
    for (const channel of offeredChannels) {
      const before = existing.find(({ name }) => name === channel.name);
      const upsert = await upsertChannel(change, channel);
      if (upsert === 'unchanged') continue;
      auditEntries.push({
        action: upsert === 'created' ? 'create' : 'update',
        subject: { kind: 'channel', name: channel.name },
        fields: compareFields(
          before === undefined ? {} : fieldsOf(kinds.channel, before),
          fieldsOf(kinds.channel, channel),
        ),
      });
    }
    const names = new Set(offeredChannels.map(({ name }) => name));
    for (const { name } of existing) {
      if (!names.has(name)) auditEntries.push(...(await disable(change, name)));
    }
    return { result: undefined, auditEntries };
  });
}

/** Disables the demo once somebody has created a channel. */
export function withdrawDemo(administration: Administration, actor: Actor): Promise<void> {
  return perform(administration, actor, endDemo);
}

/** Disables the demo once somebody has created a channel. */
export async function endDemo(change: Change): Promise<Done<undefined>> {
  const existing = await listChannels(change.trx, change.secrets);
  const demo = existing.find(({ name, owner }) => name === demoChannel && owner === 'system');
  if (demo === undefined || isOnlyOwn(existing)) return { result: undefined, auditEntries: [] };
  return { result: undefined, auditEntries: await disable(change, demoChannel) };
}

/** Whether nobody has created a channel. */
function isOnlyOwn(existing: readonly StoredChannel[]): boolean {
  return existing.every(({ owner }) => owner === 'system');
}

async function disable(change: Change, name: string): Promise<AuditEntry[]> {
  if (!(await disableChannel(change, name))) return [];
  return [{ action: 'disable', subject: { kind: 'channel', name }, fields: [] }];
}
