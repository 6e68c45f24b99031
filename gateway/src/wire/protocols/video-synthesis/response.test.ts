import { expect, test } from 'vitest';
import type { TaskView } from '#canonical/index.ts';
import { videoSynthesis } from './index.ts';
import { uuidOf } from './response.ts';

const task: TaskView = {
  id: '7b0e1d9c-0000-4000-8000-000000000000',
  model: 'mine',
  state: 'running',
  createdAt: Date.UTC(2026, 10, 22, 2, 50, 12, 718),
  updatedAt: Date.UTC(2026, 10, 22, 2, 51),
  endedAt: null,
  demand: { resolution: '720P', seconds: 5, withVideo: false },
  requestMembers: {},
  members: {},
  quantity: null,
  failure: null,
};
const encoded = (changes: Partial<TaskView> = {}) =>
  JSON.parse(videoSynthesis.encodeTask({ ...task, ...changes }, 'req_1'));
const ended = { endedAt: Date.UTC(2026, 10, 22, 16, 0, 0, 5) };
const uuid = /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

test('ids: of tasks, random; of requests, made of ours', () => {
  expect(videoSynthesis.newTaskId(0)).toMatch(uuid);
  expect(videoSynthesis.isTaskId(videoSynthesis.newTaskId(0))).toBe(true);
  for (const text of ['', 'x', `${task.id}x`, task.id.toUpperCase().replace('7', 'g')]) {
    expect(videoSynthesis.isTaskId(text)).toBe(false);
  }
  expect(uuidOf('req_1')).toMatch(uuid);
  expect(uuidOf('req_1')).toBe(uuidOf('req_1'));
  expect(uuidOf('req_2')).not.toBe(uuidOf('req_1'));
});

test('an accepted submit', () => {
  expect(JSON.parse(videoSynthesis.encodeAccepted(task.id, 'req_1'))).toEqual({
    request_id: uuidOf('req_1'),
    output: { task_id: task.id, task_status: 'PENDING' },
  });
});

test.each([
  ['queued', 'PENDING'],
  ['running', 'RUNNING'],
] as const)('%s is %s', (state, task_status) => {
  expect(encoded({ state })).toEqual({
    request_id: uuidOf('req_1'),
    output: { task_id: task.id, task_status, submit_time: '2026-11-22 10:50:12.718' },
  });
});

test('a success shows its video, and the seconds that are charged', () => {
  const members = {
    output: { video_url: 'https://v.example/a.mp4' },
    usage: { duration: 1e15, SR: 720, output_video_duration: 5 },
  };
  expect(encoded({ ...ended, state: 'succeeded', members, quantity: 5_040 })).toEqual({
    request_id: uuidOf('req_1'),
    output: {
      task_id: task.id,
      task_status: 'SUCCEEDED',
      submit_time: '2026-11-22 10:50:12.718',
      end_time: '2026-11-23 00:00:00.005',
      video_url: 'https://v.example/a.mp4',
    },
    usage: { duration: 5.04, video_count: 1, SR: 720, output_video_duration: 5 },
  });
});

test.each([
  [{ kind: 'failed', code: 'InternalError.Algo' }, 'InternalError.Algo', /could not be generated/],
  [{ kind: 'failed', code: null }, 'InternalError', /could not be generated/],
  [{ kind: 'failed', code: 'DataInspectionFailed' }, 'DataInspectionFailed', /content filter/],
  [{ kind: 'cancelled', code: null }, 'Canceled', /canceled/],
  [{ kind: 'expired', code: null }, 'TaskTimeout', /in time/],
] as const)('%j is %s', (failure, code, message) => {
  const state = failure.kind === 'expired' ? 'expired' : 'failed';
  const { output, usage } = encoded({ ...ended, state, failure });
  expect(output).toMatchObject({ task_status: 'FAILED', code });
  expect(output.message).toMatch(message);
  expect(usage).toBeUndefined();
});
