import { expect, test } from 'vitest';
import type { TaskView } from '#canonical/index.ts';
import { videoContents, videoContentsList } from './index.ts';

const task: TaskView = {
  id: 'cgt-20261122105012-abcdefghijklmnopqrst',
  model: 'mine',
  state: 'running',
  createdAt: 1_795_344_612_900,
  updatedAt: 1_795_344_613_100,
  endedAt: null,
  demand: { resolution: '4K', seconds: 5, withVideo: false },
  requestMembers: { seed: 7, ratio: '16:9' },
  members: {},
  quantity: null,
  failure: null,
};
const encoded = (changes: Partial<TaskView> = {}) =>
  JSON.parse(videoContents.encodeTask({ ...task, ...changes }, 'req_1'));
const common = {
  id: task.id,
  model: 'mine',
  created_at: 1_795_344_612,
  updated_at: 1_795_344_613,
  framespersecond: 24,
  duration: 5,
  seed: 7,
  ratio: '16:9',
  resolution: '4k',
};

test('ids are our own', () => {
  const id = videoContents.newTaskId(Date.UTC(2026, 10, 22, 10, 50, 12));
  expect(id).toMatch(/^cgt-20261122105012-[a-z0-9]{20}$/);
  expect(videoContents.isTaskId(id)).toBe(true);
  for (const text of ['', 'cgt-20261122105012-abcde', `${id}x`, id.toUpperCase()]) {
    expect(videoContents.isTaskId(text)).toBe(false);
  }
  expect(JSON.parse(videoContents.encodeAccepted(id, 'req_1'))).toEqual({ id });
});

test.each(['queued', 'running'] as const)('%s', (state) => {
  expect(encoded({ state })).toEqual({ ...common, status: state });
});

test('a success shows its video and the tokens that are charged', () => {
  const members = { content: { video_url: 'https://v.example/a.mp4' }, seed: 9, draft: false };
  expect(encoded({ state: 'succeeded', members, quantity: 108_900 })).toEqual({
    ...common,
    status: 'succeeded',
    content: { video_url: 'https://v.example/a.mp4' },
    usage: { completion_tokens: 108_900, total_tokens: 108_900 },
    seed: 9,
    draft: false,
  });
});

test.each([
  [
    { kind: 'failed', code: 'OutputVideoSensitiveContentDetected' },
    'failed',
    'OutputVideoSensitiveContentDetected',
    /content filter/,
  ],
  [{ kind: 'failed', code: null }, 'failed', 'InternalServiceError', /could not be generated/],
  [{ kind: 'cancelled', code: null }, 'failed', 'TaskCanceled', /cancelled/],
  [{ kind: 'expired', code: null }, 'expired', 'TaskExpired', /in time/],
] as const)('%j is %s, %s', (failure, status, code, message) => {
  const state = failure.kind === 'expired' ? 'expired' : 'failed';
  expect(encoded({ state, failure })).toEqual({
    ...common,
    status,
    error: { code, message: expect.stringMatching(message) },
  });
});

test('a page of tasks', () => {
  expect(JSON.parse(videoContentsList.encodeTaskList(12, [task]))).toEqual({
    total: 12,
    items: [{ ...common, status: 'running' }],
  });
});

test.each<[object, object]>([
  [{}, { pageNumber: 1, pageSize: 10, states: null, model: null, ids: null }],
  [
    {
      page_num: '2',
      page_size: '500',
      'filter.status': 'queued',
      'filter.model': 'm',
      'filter.task_ids': 'a',
    },
    { pageNumber: 2, pageSize: 500, states: ['queued'], model: 'm', ids: ['a'] },
  ],
  [
    { 'filter.task_ids': ['a', 'b'] },
    { pageNumber: 1, pageSize: 10, states: null, model: null, ids: ['a', 'b'] },
  ],
])('%j is read', (query, expected) => {
  expect(videoContentsList.readListQuery(query)).toEqual(expected);
});

test('no task is cancelled: those have failed', () => {
  expect(videoContentsList.readListQuery({ 'filter.status': 'cancelled' }).states).toEqual([]);
});

test.each([
  { page_num: '0' },
  { page_num: '501' },
  { page_num: '1e2' },
  { page_num: ['1', '2'] },
  { page_size: '-1' },
  { page_size: '99999999999999999999' },
  { 'filter.status': 'submitting' },
  { 'filter.status': 'canceled' },
  { 'filter.model': 'a\0b' },
  { 'filter.task_ids': 'a\0b' },
  { 'filter.task_ids': ['a', 'a\0b'] },
  { 'filter.task_ids': Array(501).fill('a') },
])('refused: %j', (query) => {
  expect(() => videoContentsList.readListQuery(query)).toThrow(
    expect.objectContaining({ errorName: 'invalid_value' }),
  );
});
