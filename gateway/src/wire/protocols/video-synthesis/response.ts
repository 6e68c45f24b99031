import { hash } from 'node:crypto';
import type { TaskFailure, TaskView } from '#canonical/index.ts';
import { recordAt } from '../shared/values.ts';

/** The response to an accepted submit. */
export function encodeAccepted(taskId: string, requestId: string): string {
  return JSON.stringify({
    request_id: uuidOf(requestId),
    output: { task_id: taskId, task_status: 'PENDING' },
  });
}

const states: Readonly<Record<TaskView['state'], string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  expired: 'FAILED',
};

/** The response to a look. */
export function encodeTask(task: TaskView, requestId: string): string {
  const { id, state, createdAt, endedAt, failure, members } = task;
  const output = {
    task_id: id,
    task_status: states[state],
    submit_time: stamp(createdAt),
    ...(endedAt !== null && { end_time: stamp(endedAt) }),
  };
  const request_id = uuidOf(requestId);
  if (state === 'succeeded') {
    const shownOutput = { ...output, ...recordAt(members, 'output') };
    return JSON.stringify({ request_id, output: shownOutput, usage: usageOf(task) });
  }
  if (state !== 'failed' && state !== 'expired') return JSON.stringify({ request_id, output });
  return JSON.stringify({ request_id, output: { ...output, ...describeFailure(failure) } });
}

/** What the vendor calls it, but for the seconds: those are the ones that are charged. */
function usageOf({ members, quantity, demand }: TaskView) {
  return {
    video_count: 1,
    SR: Number.parseInt(demand.resolution, 10),
    ...recordAt(members, 'usage'),
    duration: (quantity ?? 0) / 1_000,
  };
}

function describeFailure(failure: TaskFailure | null) {
  switch (failure?.kind) {
    case 'cancelled':
      return { code: 'Canceled', message: 'the task was canceled' };
    case 'expired':
      return { code: 'TaskTimeout', message: 'the video was not finished in time' };
    default: {
      const code = failure?.code ?? 'InternalError';
      const isFiltered = /inspection|sensitive/i.test(code);
      const message = isFiltered
        ? 'the request or its video was refused by a content filter'
        : 'the video could not be generated';
      return { code, message };
    }
  }
}

const ahead = 8 * 3_600_000;

/** The vendor's time: UTC+8 without a zone. */
function stamp(time: number): string {
  return new Date(time + ahead).toISOString().replace('T', ' ').slice(0, -1);
}

/** Clients of the vendor expect a UUID. The same for the same text. */
export function uuidOf(text: string): string {
  const hex = hash('sha256', text, 'hex');
  // Version 8: made in a way of our own (RFC 9562).
  const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
  ];
  return `${parts.join('-')}-${hex.slice(20, 32)}`;
}
