import type { TaskLook, TaskUsage } from '#canonical/index.ts';
import type { Looked } from './looks.repository.ts';
import { expiryOf, nextLook, nextTry, type Schedule } from './schedule.ts';
import { stepOf, tooLate, type TaskEnd } from './state.ts';
import type { TaskRow } from './task-row.ts';

/** What a look at a task gave; null: it failed, or there was none. */
export type Seen = TaskLook | null;

/** What becomes of an open task. */
export type Verdict =
  | { readonly kind: 'goes-on'; readonly looked: Looked }
  | { readonly kind: 'ends'; readonly end: TaskEnd; readonly usage: TaskUsage };

const nothing: TaskUsage = { quantity: null, isImplausible: false };

/**
 * What becomes of a task that was looked at. A look that says nothing counts as failed, because the next one may not say
 * more; no failed look ends a task, but the last one before it expires decides.
 * @param now Unix milliseconds
 */
export function judge(row: TaskRow, observation: Seen, schedule: Schedule, now: number): Verdict {
  const look =
    observation?.state === 'unknown' || observation?.state === 'withheld' ? null : observation;
  const step = look === null ? null : stepOf(row.state, look);
  if (step?.kind === 'ended') return { kind: 'ends', end: step, usage: look?.usage ?? nothing };
  if (now >= expiryOf(row, schedule)) return { kind: 'ends', end: tooLate, usage: nothing };
  const { state, members } = step?.kind === 'moved' ? step : row;
  const failedLooks = look === null ? row.failed_looks + 1 : 0;
  return {
    kind: 'goes-on',
    looked: {
      row,
      state,
      members,
      failedLooks,
      dueAt:
        look === null ? nextTry(row, schedule, now, failedLooks) : nextLook(row, schedule, now),
      // Only an answer about the task is a look: its owner's next request then makes another.
      lookedAt: observation === null ? row.looked_at : now,
      updatedAt: state === row.state ? row.updated_at : now,
    },
  };
}

/** The row after that verdict. */
export function rowAfter({ row, state, members, lookedAt, updatedAt }: Looked): TaskRow {
  return { ...row, state, members, looked_at: lookedAt, updated_at: updatedAt };
}
