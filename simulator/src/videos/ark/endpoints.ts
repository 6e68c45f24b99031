import { invalidParameter } from '../../ark/protocol.ts';
import type { Call, Endpoint } from '../../http/call.ts';
import { bearerToken } from '../../http/credential.ts';
import { jsonReply } from '../../http/reply.ts';
import { Rejection } from '../../rejection.ts';
import { clipAddress } from '../clip.ts';
import { endedAt, stateAt, type State, type Task } from '../task.ts';
import type { Tasks } from '../tasks.ts';
import { quantityOf } from '../usage.ts';
import { validateSubmit } from './validate.ts';

/** `POST …/contents/generations/tasks` */
export function createSubmit(tasks: Tasks): Endpoint {
  return (call) => {
    const { expiresAfterMs, ...submit } = validateSubmit(call.body);
    const given = {
      ...submit,
      vendor: 'ark',
      model: call.model,
      credential: bearerToken(call.headers),
      expiresAt: tasks.clock.now() + expiresAfterMs,
    } as const;
    // A fault refuses it: nothing is made.
    return jsonReply(200, { id: call.isRefused ? '' : tasks.add(given).id });
  };
}

/** `GET …/tasks/{id}` */
export function createLook(tasks: Tasks): Endpoint {
  return (call) => {
    const task = requireTask(tasks, call);
    task.looks += 1;
    return jsonReply(200, describe(tasks, task, call));
  };
}

/** `GET …/tasks`, newest first */
export function createList(tasks: Tasks): Endpoint {
  return (call) => {
    const { query } = call;
    const size = pageNumber(query, 'page_size', 10);
    const page = pageNumber(query, 'page_num', 1);
    const ids = query.getAll('filter.task_ids');
    const status = query.get('filter.status');
    const model = query.get('filter.model');
    const now = tasks.clock.now();
    const found = tasks
      .of('ark', bearerToken(call.headers))
      .filter((task) => stateAt(task, now) !== 'missing')
      .filter((task) => ids.length === 0 || ids.includes(task.id))
      .filter((task) => status === null || nameOf(task, stateAt(task, now)) === status)
      .filter((task) => model === null || task.model === model)
      .toReversed();
    const shown = found.slice((page - 1) * size, page * size);
    for (const task of shown) task.looks += 1;
    return jsonReply(200, {
      total: found.length,
      items: shown.map((task) => describe(tasks, task, call)),
    });
  };
}

/** `DELETE …/tasks/{id}` */
export function createDelete(tasks: Tasks): Endpoint {
  return (call) => {
    const task = requireTask(tasks, call);
    const state = stateAt(task, tasks.clock.now());
    if (state === 'queued') task.cancelledAt = tasks.clock.now();
    else if (state === 'succeeded' || state === 'failed' || state === 'expired') tasks.remove(task);
    else {
      throw new Rejection(400, `The task is ${nameOf(task, state)} and cannot be deleted.`, {
        code: 'InvalidAction',
      });
    }
    return jsonReply(200, {});
  };
}

function requireTask(tasks: Tasks, call: Call): Task {
  const task = tasks.find('ark', call.id, bearerToken(call.headers));
  if (task === undefined || stateAt(task, tasks.clock.now()) === 'missing') {
    throw new Rejection(404, `The task ${call.id} is not found.`, { code: 'NotFound.Task' });
  }
  return task;
}

function pageNumber(query: URLSearchParams, name: string, usual: number): number {
  const text = query.get(name);
  if (text === null) return usual;
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > 500) {
    throw invalidParameter(name, 'it must be an integer from 1 to 500');
  }
  return number;
}

const names: Readonly<Record<State, string>> = {
  queued: 'queued',
  running: 'running',
  suspended: 'processing',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
  missing: '',
};

/** Some servers spell the first states differently. */
function nameOf({ model }: Task, state: State): string {
  if (!model.includes('strange')) return names[state];
  if (state === 'queued') return 'pending';
  return state === 'running' ? 'processing' : names[state];
}

function describe({ clock }: Tasks, task: Task, { headers }: Call) {
  const state = stateAt(task, clock.now());
  const hasEnded = ['succeeded', 'failed', 'cancelled', 'expired'].includes(state);
  const { body, model } = task;
  const common = {
    id: task.id,
    model,
    status: nameOf(task, state),
    created_at: seconds(task.submittedAt),
    updated_at: seconds(hasEnded ? endedAt(task) : clock.now()),
    service_tier: body['service_tier'] ?? 'default',
    execution_expires_after: body['execution_expires_after'] ?? 172_800,
  };
  if (state === 'failed') {
    const message = 'CANARY-upstream-text: the output video may contain sensitive information.';
    return { ...common, error: { code: 'OutputVideoSensitiveContentDetected', message } };
  }
  if (state !== 'succeeded') return common;
  return {
    ...common,
    content: { video_url: clipAddress(headers.host, task.id) },
    ...usageOf(task),
    seed: body['seed'] ?? 7,
    resolution: task.resolution,
    ratio: body['ratio'] ?? '16:9',
    duration: task.seconds,
    framespersecond: 24,
    generate_audio: body['generate_audio'] ?? true,
    draft: false,
    priority: 0,
  };
}

const pixels: Readonly<Record<string, number>> = {
  '480p': 864 * 480,
  '720p': 1280 * 720,
  '1080p': 1920 * 1080,
  '4k': 3840 * 2160,
};

/** 24 frames a second, a token per 1,024 pixels. */
function usageOf(task: Task) {
  const usual = ((pixels[task.resolution] ?? 0) * 24 * task.seconds) / 1024;
  const tokens = quantityOf(task, usual);
  return tokens === undefined ? {} : { usage: { completion_tokens: tokens, total_tokens: tokens } };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}
