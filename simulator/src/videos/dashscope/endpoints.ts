import type { Call, Endpoint } from '../../http/call.ts';
import { bearerToken } from '../../http/credential.ts';
import { jsonReply } from '../../http/reply.ts';
import { Rejection } from '../../rejection.ts';
import { clipAddress } from '../clip.ts';
import { endedAt, stateAt, type State, type Task } from '../task.ts';
import type { Tasks } from '../tasks.ts';
import { quantityOf } from '../usage.ts';
import { requestId } from './protocol.ts';
import { validateSubmit } from './validate.ts';

/** Per credential. */
const looksPerSecond = 20;

/** `POST …/services/aigc/video-generation/video-synthesis` */
export function createSubmit(tasks: Tasks): Endpoint {
  return (call) => {
    if (asyncHeader(call) !== 'enable') {
      throw new Rejection(403, 'current user api does not support synchronous calls.');
    }
    const submit = validateSubmit(call.body);
    const given = {
      ...submit,
      vendor: 'dashscope',
      model: call.model,
      credential: bearerToken(call.headers),
      expiresAt: Infinity,
    } as const;
    // A fault refuses it: nothing is made.
    const id = call.isRefused ? '' : tasks.add(given).id;
    return jsonReply(200, {
      request_id: requestId,
      output: { task_id: id, task_status: 'PENDING' },
    });
  };
}

/** `GET …/tasks/{id}` */
export function createLook(tasks: Tasks): Endpoint {
  return (call) => {
    if (asyncHeader(call) !== '') {
      throw new Rejection(403, 'current user api does not support asynchronous calls.');
    }
    const credential = bearerToken(call.headers);
    if (!tasks.mayLook(credential, looksPerSecond)) {
      throw new Rejection(429, 'Requests rate limit exceeded, please try again later.');
    }
    const task = tasks.find('dashscope', call.id, credential);
    if (task !== undefined) task.looks += 1;
    const state = task === undefined ? 'missing' : stateAt(task, tasks.clock.now());
    if (task === undefined || state === 'missing') return jsonReply(200, unknown(call.id));
    return jsonReply(200, describe(task, state, call));
  };
}

/** `POST …/tasks/{id}/cancel` */
export function createCancel(tasks: Tasks): Endpoint {
  return (call) => {
    const task = tasks.find('dashscope', call.id, bearerToken(call.headers));
    if (task === undefined || stateAt(task, tasks.clock.now()) !== 'queued') {
      throw new Rejection(400, 'Failed to cancel the task, please confirm its status.', {
        code: 'UnsupportedOperation',
      });
    }
    task.cancelledAt = tasks.clock.now();
    return jsonReply(200, { request_id: requestId });
  };
}

function asyncHeader({ headers }: Call): string {
  return String(headers['x-dashscope-async'] ?? '').toLowerCase();
}

function unknown(id: string) {
  return { request_id: requestId, output: { task_id: id, task_status: 'UNKNOWN' } };
}

const names: Readonly<Record<State, string>> = {
  queued: 'PENDING',
  running: 'RUNNING',
  suspended: 'SUSPENDED',
  succeeded: 'SUCCEEDED',
  failed: 'FAILED',
  cancelled: 'CANCELED',
  expired: 'UNKNOWN',
  missing: 'UNKNOWN',
};

function describe(task: Task, state: State, { headers }: Call) {
  const stamps = {
    submit_time: stamp(task.submittedAt),
    ...(state !== 'queued' && { scheduled_time: stamp(task.submittedAt + 1_000) }),
  };
  const output = { task_id: task.id, task_status: names[state], ...stamps };
  const end = { end_time: stamp(endedAt(task)) };
  switch (state) {
    case 'succeeded': {
      const video = { orig_prompt: task.prompt, video_url: clipAddress(headers.host, task.id) };
      return {
        request_id: requestId,
        output: { ...output, ...end, ...video },
        ...usageOf(task),
      };
    }
    case 'failed':
      return {
        request_id: requestId,
        output: {
          ...output,
          ...end,
          code: 'DataInspectionFailed',
          message: 'CANARY-upstream-text: the output may contain inappropriate content.',
        },
      };
    case 'cancelled':
      return { request_id: requestId, output: { ...output, ...end } };
    default:
      return { request_id: requestId, output };
  }
}

/** Two generations of models report it differently. */
function usageOf(task: Task) {
  const seconds = quantityOf(task, task.seconds);
  if (seconds === undefined) return {};
  if (task.model.includes('wan2.5')) {
    return { usage: { video_duration: seconds, video_ratio: '1280*720', video_count: 1 } };
  }
  return {
    usage: {
      duration: seconds,
      output_video_duration: seconds,
      input_video_duration: 0,
      SR: Number.parseInt(task.resolution, 10),
      video_count: 1,
    },
  };
}

/** Beijing time without a zone. */
function stamp(time: number): string {
  return new Date(time + 8 * 3_600_000).toISOString().replace('T', ' ').slice(0, -1);
}
