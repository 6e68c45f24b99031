import type { TaskFailure, TaskView, TaskState } from '#canonical/index.ts';
import { framesPerSecond } from './parameters.ts';
import { isRecord } from '../shared/values.ts';
import type { VideoListQuery } from '../shared/video/video.ts';
import { refuseValue } from '../shared/text/request-values.ts';

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
  const { id, model, state, createdAt, updatedAt, demand, requestMembers, members, quantity } =
    task;
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
    ...requestMembers,
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

const usualSize = 10;
const most = 500;
const states: readonly TaskState[] = ['queued', 'running', 'succeeded', 'failed', 'expired'];

/** @throws GatewayError `invalid_value` */
export function readListQuery(query: unknown): VideoListQuery {
  const queryMembers = isRecord(query) ? query : {};
  const ids = queryMembers['filter.task_ids'];
  return {
    pageNumber: readNumber(queryMembers, 'page_num', 1),
    pageSize: readNumber(queryMembers, 'page_size', usualSize),
    states: readStates(textAt(queryMembers, 'filter.status')),
    model: textAt(queryMembers, 'filter.model'),
    ids: ids === undefined ? null : readIds(ids),
  };
}

/** Null: all. */
function readStates(status: string | null): readonly TaskState[] | null {
  if (status === null) return null;
  // The vendor's clients may ask for it; here, such a task has failed.
  if (status === 'cancelled') return [];
  const state = states.find((name) => name === status);
  return state === undefined
    ? refuseValue('filter.status', `must be one of ${states.join(', ')}`)
    : [state];
}

function readIds(value: unknown): readonly string[] {
  const ids: unknown[] = Array.isArray(value) ? value : [value];
  const isText = (id: unknown): id is string => typeof id === 'string' && !id.includes('\0');
  return ids.length <= most && ids.every(isText)
    ? ids
    : refuseValue('filter.task_ids', `must name at most ${most} tasks`);
}

function textAt(queryMembers: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = queryMembers[name];
  if (value === undefined || value === '') return null;
  if (typeof value !== 'string') return refuseValue(name, 'must be named once');
  // PostgreSQL takes no such text, not even to compare with it.
  return value.includes('\0') ? refuseValue(name, 'must not contain a NUL') : value;
}

function readNumber(
  queryMembers: Readonly<Record<string, unknown>>,
  name: string,
  usual: number,
): number {
  const text = textAt(queryMembers, name);
  if (text === null) return usual;
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= most
    ? number
    : refuseValue(name, `must be an integer from 1 to ${most}`);
}
