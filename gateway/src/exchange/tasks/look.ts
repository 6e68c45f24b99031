import type { TaskLook } from '#canonical/index.ts';
import type { TaskCall, TaskList, TaskSide, Vendor } from '#vendors/index.ts';
import { openAccess, presentAccess, type Access } from './access.ts';
import { ask, type Reply } from './ask.ts';
import type { Seen } from './judge.ts';
import type { TaskParts } from './parts.ts';
import type { TaskRow } from './task-row.ts';

/** Tasks of one channel that can be asked about together: submitted with one credential to one address. */
export interface Upstream {
  /** The channel's id. */
  readonly channel: string;
  readonly protocol: TaskRow['protocol'];
  readonly access: Access;
  readonly vendor: Vendor;
  readonly side: TaskSide;
}

type LookingParts = Pick<
  TaskParts,
  'secrets' | 'snapshot' | 'vendorOf' | 'upstream' | 'timeouts' | 'pace' | 'tally' | 'stop' | 'log'
>;

/** Where a task was submitted. Null: it cannot be reached now; the log says why. */
export function upstreamOf(parts: LookingParts, row: TaskRow): Upstream | null {
  const { id, protocol, channel_id: channel, access: sealedAccess } = row;
  if (channel === null || sealedAccess === null) return null;
  try {
    const currentChannel = parts.snapshot().channels.find((each) => each.id === channel);
    const access = presentAccess(openAccess(parts.secrets, id, sealedAccess), currentChannel);
    const vendor = parts.vendorOf(access);
    const side = vendor?.tasks?.[protocol];
    if (vendor !== undefined && side !== undefined) {
      return { channel, protocol, access, vendor, side };
    }
    parts.log.warn('this release cannot follow a task', { component: 'tasks', detail: id });
  } catch (error) {
    parts.log.error('cannot read where a task was submitted', error, {
      component: 'tasks',
      detail: id,
    });
  }
  return null;
}

/** Asks for one task. */
export async function lookAtOne(
  parts: LookingParts,
  upstream: Upstream,
  row: TaskRow,
): Promise<Seen> {
  const { side } = upstream;
  const reply = await askFor(parts, upstream, side.look(row.upstream_id!));
  return reply.kind === 'answered' ? side.readLook(reply.body) : null;
}

/**
 * Asks for many tasks with one call.
 * @returns by upstream id; what is absent was not answered. `none`: there is no such list, as far as this call can tell
 */
export async function lookAtMany(
  parts: LookingParts,
  upstream: Upstream,
  list: TaskList,
  rows: readonly TaskRow[],
): Promise<ReadonlyMap<string, TaskLook> | 'limited' | 'none'> {
  const ids = rows.map(({ upstream_id }) => upstream_id!);
  const reply = await askFor(parts, upstream, list.call(ids));
  if (reply.kind === 'limited') return 'limited';
  return (reply.kind === 'answered' ? list.read(reply.body) : null) ?? 'none';
}

/** Makes a call and counts it. */
export async function askFor(
  parts: LookingParts,
  { access, vendor, protocol, channel }: Upstream,
  call: TaskCall,
): Promise<Reply> {
  const { upstream, timeouts, stop } = parts;
  const reply = await ask(call, { upstream, timeouts, vendor, access, protocol, stop });
  parts.tally.looks[reply.kind] += 1;
  if (reply.kind === 'limited') parts.pace.rest(channel, reply.retryAfter);
  return reply;
}
