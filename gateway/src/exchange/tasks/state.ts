import type { TaskFailure, TaskLook, TaskMembers, TaskState } from '#canonical/index.ts';

/** What a look does to a task. */
export type Step =
  /** Nothing that its owner could see. */
  | { readonly kind: 'none' }
  | { readonly kind: 'moved'; readonly state: 'queued' | 'running'; readonly members: TaskMembers }
  | TaskEnd;

/** The end of a task. */
export interface TaskEnd {
  readonly kind: 'ended';
  readonly state: FinalState;
  readonly failure: TaskFailure | null;
  /** Null: as at the last look. */
  readonly members: TaskMembers | null;
}

export type FinalState = 'succeeded' | 'failed' | 'expired';

const none: Step = { kind: 'none' };

/**
 * What this look does to a task in this state. States go only forward: what has ended stays as it is, what runs is
 * never queued again, and a look that says nothing changes nothing. So it does not matter in what order looks arrive,
 * how often each does, or which are lost.
 */
export function stepOf(state: TaskState, look: TaskLook): Step {
  if (state !== 'queued' && state !== 'running') return none;
  const { members } = look;
  switch (look.state) {
    // It has not succeeded as long as there is nothing to show.
    case 'withheld':
    case 'unknown':
      return none;
    case 'queued':
      return state === 'running' ? none : { kind: 'moved', state: 'queued', members };
    case 'running':
      return { kind: 'moved', state: 'running', members };
    case 'succeeded':
      return { kind: 'ended', state: 'succeeded', failure: null, members };
    case 'failed':
      return endedBy('failed', { kind: 'failed', code: look.code }, members);
    case 'cancelled':
      return endedBy('failed', { kind: 'cancelled', code: null }, members);
    case 'expired':
      return endedBy('expired', { kind: 'expired', code: null }, members);
  }
}

/** The end of a task that has taken too long. */
export const tooLate: TaskEnd = {
  kind: 'ended',
  state: 'expired',
  failure: { kind: 'expired', code: null },
  members: null,
};

/** The end of a task that no upstream is known to have accepted. */
export const notAccepted: TaskEnd = {
  kind: 'ended',
  state: 'failed',
  failure: { kind: 'failed', code: null },
  members: null,
};

function endedBy(state: FinalState, failure: TaskFailure, members: TaskMembers): TaskEnd {
  return { kind: 'ended', state, failure, members };
}
