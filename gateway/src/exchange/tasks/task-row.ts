import type { TaskTerms } from '#billing/index.ts';
import type {
  TaskFailure,
  TaskMembers,
  TaskState,
  TaskView,
  VideoDemand,
  VideoProtocolName,
} from '#canonical/index.ts';
import type { TaskTable } from '#database/index.ts';
import { meterNames } from '#ledger/index.ts';
import type { AttemptRecord, UnitsRecord } from '#usage/index.ts';

/** A row, with its JSON read. */
export interface TaskRow extends Omit<TaskTable, keyof Read>, Read {}

interface Read {
  readonly protocol: VideoProtocolName;
  readonly demand: VideoDemand;
  readonly requestMembers: TaskMembers;
  readonly terms: TaskTerms | null;
  readonly state: TaskState;
  readonly failure: TaskFailure | null;
  readonly members: TaskMembers;
  readonly attempts: readonly AttemptRecord[];
}

export function readRow(row: TaskTable): TaskRow {
  return {
    ...row,
    protocol: row.protocol as VideoProtocolName,
    demand: JSON.parse(row.demand) as VideoDemand,
    requestMembers: JSON.parse(row.asked) as TaskMembers,
    terms: row.terms === null ? null : (JSON.parse(row.terms) as TaskTerms),
    state: row.state as TaskState,
    failure: row.failure === null ? null : (JSON.parse(row.failure) as TaskFailure),
    members: JSON.parse(row.members) as TaskMembers,
    attempts: JSON.parse(row.attempts) as readonly AttemptRecord[],
  };
}

/** As its owner sees it. */
export function viewOf(row: TaskRow): TaskView {
  return {
    id: row.id,
    model: row.model,
    // A task that no upstream has accepted is never shown.
    state: row.state as TaskView['state'],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    endedAt: row.ended_at,
    demand: row.demand,
    requestMembers: row.requestMembers,
    members: row.members,
    quantity: row.quantity,
    failure: row.failure,
  };
}

/** The meters that a task holds money on. */
export function metersOf(
  { key_id, user_id, team_id }: TaskRow,
  terms: TaskTerms,
): readonly string[] {
  const account =
    terms.payer === 'team' ? (`team:${team_id}` as const) : (`user:${user_id}` as const);
  return meterNames({ account, keyId: key_id, userId: user_id, window: terms.window });
}

/** What a usage row says of a task. @param quantity milliseconds or tokens; null: nothing was made */
export function unitsOf(
  { id, protocol, demand }: Pick<TaskRow, 'id' | 'protocol' | 'demand'>,
  quantity: number | null,
): UnitsRecord {
  return {
    ...(quantity !== null && madeOf(protocol, quantity)),
    resolution: demand.resolution,
    with_video: demand.withVideo,
    task: id,
  };
}

/** A quantity under the name of its unit. */
export function madeOf(protocol: TaskRow['protocol'], quantity: number): UnitsRecord {
  return protocol === 'video-synthesis' ? { video_ms: quantity } : { video_tokens: quantity };
}
