import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyFailure } from './classify.ts';
import { arkTasks } from './ark/index.ts';
import { dashscopeTasks } from './dashscope/index.ts';
import { simulator } from './simulator/index.ts';

const synthesis = dashscopeTasks();
const contents = arkTasks();
const notReported = { quantity: null, isImplausible: false };
const implausible = { quantity: null, isImplausible: true };
const reported = (quantity: number) => ({ quantity, isImplausible: false });

const output = (members: object, usage?: object) => ({ request_id: 'r', output: members, usage });
const done = { task_status: 'SUCCEEDED', video_url: 'https://v.example/a.mp4?x=1' };

describe('Model Studio', () => {
  test('where a task is submitted and asked for', () => {
    expect(synthesis.submitHeaders).toEqual({ 'x-dashscope-async': 'enable' });
    expect(synthesis.look('a/../b')).toEqual({ method: 'GET', path: '/tasks/a%2F..%2Fb' });
    expect(synthesis.readId({ output: { task_id: 'id' } })).toBe('id');
  });

  test.each([
    {},
    null,
    'x',
    { output: {} },
    { output: { task_id: '' } },
    { output: { task_id: 7.5 } },
    { output: { task_id: 0 } },
    { output: { task_id: 'x'.repeat(8_193) } },
  ])('a response without an id: %j', (body) => expect(synthesis.readId(body)).toBeNull());

  test.each([
    ['PENDING', 'queued'],
    ['RUNNING', 'running'],
    ['SUSPENDED', 'running'],
    ['CANCELED', 'cancelled'],
    ['Running', 'running'],
    ['succeeded', 'succeeded'],
    ['SUCCESS', 'succeeded'],
    ['failed', 'failed'],
    ['UNKNOWN', 'unknown'],
    ['DREAMING', 'unknown'],
    // An inherited member of every object.
    ['constructor', 'unknown'],
  ])('%s is %s', (status, state) => {
    const video = state === 'succeeded' ? { video_url: done.video_url } : {};
    const look = synthesis.readLook(output({ task_status: status, ...video }));
    expect(look).toMatchObject({ state, code: null, usage: notReported });
  });

  test('a failure keeps a code that looks like one, and no text', () => {
    const failed = (code: unknown) =>
      synthesis.readLook(output({ task_status: 'FAILED', code, message: 'secret' }));
    expect(failed('InternalError.Algo')).toMatchObject({
      state: 'failed',
      code: 'InternalError.Algo',
    });
    for (const code of ['two words', 'x'.repeat(101), '', 7, undefined]) {
      expect(failed(code)).toMatchObject({ state: 'failed', code: null });
    }
    expect(JSON.stringify(failed('InternalError'))).not.toContain('secret');
  });

  test.each<[string, object | undefined, object]>([
    ['the newer name', { duration: 5, output_video_duration: 7 }, reported(5_000)],
    ['the first positive one', { duration: 0, output_video_duration: 6 }, reported(6_000)],
    ['the older name', { video_duration: 5.04 }, reported(5_040)],
    ['to the millisecond', { duration: 1.23456 }, reported(1_235)],
    ['text of digits', { duration: '6' }, reported(6_000)],
    ['none', {}, notReported],
    ['no usage', undefined, notReported],
    ['zero', { duration: 0 }, notReported],
    ['a negative number', { duration: -5 }, implausible],
    ['text', { duration: 'a lot' }, implausible],
    ['more than a number can count', { duration: 1e300 }, implausible],
  ])('seconds: %s', (_what, usage, expected) => {
    expect(synthesis.readLook(output(done, usage))?.usage).toEqual(expected);
  });

  test('what clients may see is chosen by name and kind', () => {
    const look = synthesis.readLook(
      output(
        { ...done, orig_prompt: 'a cat', actual_prompt: { a: 1 }, task_id: 'upstream', secret: 1 },
        { SR: 720, video_count: 1, internal_cost: 9 },
      ),
    );
    expect(look?.members).toEqual({
      output: { video_url: done.video_url, orig_prompt: 'a cat' },
      usage: { SR: 720, video_count: 1 },
    });
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', '', undefined, 'https://'])(
    'a success without an address is not one yet: %s',
    (video_url) => {
      const look = synthesis.readLook(output({ ...done, video_url }, { duration: 5 }));
      expect(look).toMatchObject({ state: 'withheld', usage: reported(5_000), members: {} });
    },
  );
});

const task = (members: object) => ({ id: 'cgt-1', model: 'm', status: 'succeeded', ...members });
const video = { content: { video_url: 'https://v.example/a.mp4' } };

describe('Ark', () => {
  test('where tasks are asked for, listed and cancelled', () => {
    const path = '/contents/generations/tasks';
    expect(contents.look('a?b')).toEqual({ method: 'GET', path: `${path}/a%3Fb` });
    expect(contents.cancel?.('a')).toEqual({ method: 'DELETE', path: `${path}/a` });
    expect(contents.list?.call(['a', 'b&c']).path).toBe(
      `${path}?page_num=1&page_size=100&filter.task_ids=a&filter.task_ids=b%26c`,
    );
    expect(contents.readId({ id: 'cgt-1' })).toBe('cgt-1');
    expect(contents.readId({ id: 176843862716480 })).toBe('176843862716480');
    expect(contents.readId({ id: 'x'.repeat(8_192) })).toHaveLength(8_192);
  });

  test.each([
    ['queued', 'queued'],
    ['pending', 'queued'],
    ['running', 'running'],
    ['processing', 'running'],
    ['cancelled', 'cancelled'],
    ['expired', 'expired'],
    ['Expired', 'expired'],
    ['CANCELED', 'cancelled'],
    ['IN_PROGRESS', 'running'],
    ['canceled?', 'unknown'],
    ['toString', 'unknown'],
  ])('%s is %s', (status, state) => {
    expect(contents.readLook(task({ status }))).toMatchObject({ state, usage: notReported });
  });

  test.each<[string, unknown, object]>([
    ['tokens', 108_900, reported(108_900)],
    ['an explicit zero', 0, reported(0)],
    ['text of digits', '108900', reported(108_900)],
    ['a negative number', -7, implausible],
    ['a fraction', 0.5, implausible],
    ['text', 'a lot', implausible],
    ['a flag', true, implausible],
    ['more than a number can count', 1e17, implausible],
  ])('%s', (_what, tokens, expected) => {
    const usage = { completion_tokens: 1, total_tokens: tokens };
    expect(contents.readLook(task({ ...video, usage }))?.usage).toEqual(expected);
  });

  test.each<[string, object, object]>([
    ['no sum', { completion_tokens: 1_234 }, reported(1_234)],
    ['null for the sum', { completion_tokens: '1234', total_tokens: null }, reported(1_234)],
    ['a sum of zero, which is a report', { completion_tokens: 7, total_tokens: 0 }, reported(0)],
    ['a sum that is not a count', { completion_tokens: 7, total_tokens: 'x' }, implausible],
    ['no sum, and no count', { completion_tokens: -1 }, implausible],
    ['neither', {}, notReported],
  ])('tokens of the answer stand for the sum: %s', (_what, usage, expected) => {
    expect(contents.readLook(task({ ...video, usage }))?.usage).toEqual(expected);
  });

  test('what clients may see is chosen by name and kind', () => {
    const look = contents.readLook(
      task({
        content: { ...video.content, x: 'https://x', last_frame_url: 'data:,x' },
        seed: 7,
        safety_identifier: 's',
      }),
    );
    expect(look?.members).toEqual({ ...video, seed: 7 });
  });

  test('a success without an address is not one yet', () => {
    const usage = { total_tokens: 7 };
    const look = contents.readLook(task({ status: 'succeeded', content: {}, usage }));
    expect(look).toMatchObject({ state: 'withheld', usage: reported(7) });
  });

  test('a list has what can be read, by id', () => {
    const looks = contents.list?.read({ total: 3, items: [task(video), { id: 'cgt-2' }, null] });
    expect([...(looks?.keys() ?? [])]).toEqual(['cgt-1']);
    expect(contents.list?.read({ items: 7 })).toBeNull();
  });

  test('overload comes with 429 and is not a limit of ours', () => {
    const body = { error: { code: 'ServerOverloaded', message: 'x', type: 'TooManyRequests' } };
    expect(classifyFailure({ status: 429, body, retryAfter: null })).toMatchObject({
      as: 'overloaded',
    });
  });
});

test('nothing that an upstream can send makes a reader throw, or gives an invalid quantity', () => {
  const sides = [synthesis, contents, ...Object.values(simulator.tasks)];
  const bodies = fc.oneof(
    fc.jsonValue(),
    fc.record({
      output: fc.record({ task_status: fc.constantFrom('SUCCEEDED', 'x'), video_url: fc.webUrl() }),
      usage: fc.dictionary(fc.constantFrom('duration', 'video_duration'), fc.jsonValue()),
    }),
    fc.record({
      status: fc.constant('succeeded'),
      content: fc.record({ video_url: fc.webUrl() }),
      usage: fc.record({ total_tokens: fc.jsonValue() }),
    }),
  );
  fc.assert(
    fc.property(bodies, (body) => {
      for (const side of sides) {
        side.readId(body);
        side.list?.read(body);
        const look = side.readLook(body);
        const quantity = look?.usage.quantity ?? 0;
        expect(Number.isSafeInteger(quantity) && quantity >= 0).toBe(true);
      }
    }),
  );
});
