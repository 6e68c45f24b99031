import type { TaskFailure, TaskView } from '#canonical/index.ts';
import { framesPerSecond } from './parameters.ts';

/** The response to an accepted submit. */
export function encodeAccepted(taskId: string): string {
  return JSON.stringify({ id: taskId });
}

/** The response to a look. */
export function encodeTask(task: TaskView): string {
  return JSON.stringify(describe(task));
}

/** A page of tasks. @param total on all pages */
export function encodeTaskList(total: number, tasks: readonly TaskView[]): string {
  return JSON.stringify({ total, items: tasks.map(describe) });
}

function describe(task: TaskView) {
  const { id, model, state, createdAt, updatedAt, demand, asked, members, quantity } = task;
  const { content, ...known } = members;
  const isDone = state === 'succeeded';
  return {
    id,
    model,
    status: state,
    ...(isDone && content !== undefined && { content }),
    ...(isDone && { usage: { completion_tokens: quantity ?? 0, total_tokens: quantity ?? 0 } }),
    ...((state === 'failed' || state === 'expired') && { error: describeFailure(task.failure) }),
    created_at: seconds(createdAt),
    updated_at: seconds(updatedAt),
    framespersecond: framesPerSecond,
    duration: demand.seconds,
    ...asked,
    ...known,
    resolution: demand.resolution.toLowerCase(),
  };
}

function describeFailure(failure: TaskFailure | null) {
  switch (failure?.kind) {
    case 'cancelled':
      return { code: 'TaskCanceled', message: 'the task was cancelled' };
    case 'expired':
      return { code: 'TaskExpired', message: 'the video was not finished in time' };
    default: {
      const code = failure?.code ?? 'InternalServiceError';
      const isFiltered = /inspection|sensitive|risk/i.test(code);
      const message = isFiltered
        ? 'the request or its video was refused by a content filter'
        : 'the video could not be generated';
      return { code, message };
    }
  }
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}
