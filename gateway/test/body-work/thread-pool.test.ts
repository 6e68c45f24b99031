import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createThreadPool, type ThreadPoolOptions } from '#body-work/thread-pool.ts';
import type { TestTask } from './tasks.ts';

function open(options: Partial<ThreadPoolOptions> = {}, deadline = 20_000) {
  const problems: unknown[] = [];
  const pool = createThreadPool({
    file: new URL('./tasks.worker.ts', import.meta.url),
    name: 'test',
    workerData: null,
    size: 1,
    heap: 64,
    idle: 60_000,
    onProblem: (error) => problems.push(error),
    ...options,
  });
  onTestFinished(() => pool.close());
  return {
    pool,
    problems,
    give(key: string, task: TestTask, answer?: (question: unknown) => unknown) {
      const transfer = 'bytes' in task ? [task.bytes.buffer as ArrayBuffer] : [];
      return pool.run(key, {
        handed: { message: task, transfer },
        deadline,
        ...(answer && {
          answer: async (question: unknown) => ({ message: await answer(question), transfer: [] }),
        }),
      });
    },
  };
}

const threads = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'MessagePort').length;
const failure = (reason: string) => ({ name: 'ThreadFailure', reason });

test('no thread exists before the first task, or after idling', async () => {
  const before = threads();
  const { give } = open({ idle: 50 });
  expect(threads()).toBe(before);
  expect(await give('a', { do: 'say', text: 'one' }).result).toBe('one');
  expect(threads()).toBe(before + 1);
  await expect.poll(threads).toBe(before);
  expect(await give('a', { do: 'say', text: 'two' }).result).toBe('two');
});

test('bytes are transferred, not copied', async () => {
  const { give } = open();
  const bytes = new Uint8Array(1_000_000);
  const { result } = give('a', { do: 'measure', bytes });
  expect(bytes.byteLength).toBe(0);
  expect(await result).toBe(1_000_000);
});

test('never more threads than places', async () => {
  const before = threads();
  const { give } = open({ size: 2 });
  const all = Array.from({ length: 6 }, (_, at) => give(`k${at}`, { do: 'wait', ms: 20 }).result);
  expect(threads()).toBe(before + 2);
  await Promise.all(all);
  expect(threads()).toBe(before + 2);
});

test('keys take turns: a task of another key waits for one task, not for all', async () => {
  const { give } = open();
  const order: string[] = [];
  const note = async (key: string, text: string) => {
    await give(key, { do: 'say', text }).result;
    order.push(text);
  };
  await Promise.all([
    ...['a1', 'a2', 'a3', 'a4'].map((text) => note('a', text)),
    ...['b1', 'b2'].map((text) => note('b', text)),
    note('c', 'c1'),
  ]);
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('a task beyond its deadline ends alone, and the next task has another thread', async () => {
  const { give, problems } = open({}, 200);
  const spinning = give('a', { do: 'spin' });
  const next = give('a', { do: 'say', text: 'next' });
  await expect(spinning.result).rejects.toMatchObject(failure('deadline'));
  expect(await next.result).toBe('next');
  expect(problems).toEqual([]);
});

test('a starved thread has not used up its time', async () => {
  const { give } = open({}, 100);
  // Five times the deadline on the clock is too long anyway.
  expect(await give('a', { do: 'wait', ms: 300 }).result).toBe('waited');
  await expect(give('a', { do: 'wait', ms: 5_000 }).result).rejects.toMatchObject(
    failure('deadline'),
  );
});

test('a task that needs too much memory ends alone', async () => {
  const { give, problems } = open();
  const hoarding = give('a', { do: 'hoard' });
  const next = give('b', { do: 'say', text: 'next' });
  await expect(hoarding.result).rejects.toMatchObject(failure('memory'));
  expect(await next.result).toBe('next');
  expect(problems).toEqual([]);
});

test('a thread that dies of a defect fails its task and reports it', async () => {
  const { give, problems } = open();
  const dying = give('a', { do: 'die' });
  const next = give('a', { do: 'say', text: 'next' });
  await expect(dying.result).rejects.toMatchObject(failure('defect'));
  expect(await next.result).toBe('next');
  expect(problems).toMatchObject([{ message: 'died' }]);
});

test('nobody waits for a thread that cannot be started', async () => {
  // The system refuses a thread while it is made, as this does.
  const { give, problems } = open({ workerData: () => {} });
  const all = ['a', 'a', 'b'].map((key) => give(key, { do: 'say', text: 'x' }).result);
  for (const result of all) await expect(result).rejects.toMatchObject(failure('ended'));
  expect(problems).toHaveLength(3);
});

test('a thread’s question is answered, and waiting for the response does not count as its time', async () => {
  const { give, problems } = open({}, 50);
  const slow = give('a', { do: 'ask', question: 'q' }, async (question) => {
    await wait(600);
    return `${String(question)}!`;
  });
  expect(await slow.result).toBe('q!');
  const failing = give('a', { do: 'ask', question: 'q' }, () => {
    throw new Error('no answer');
  });
  await expect(failing.result).rejects.toMatchObject(failure('defect'));
  expect(problems).toMatchObject([{ message: 'no answer' }]);
});

test('a waiting task can be cancelled, a started one continues', async () => {
  const { give } = open();
  const begun = give('a', { do: 'wait', ms: 100 });
  const waiting = give('a', { do: 'spin' });
  expect(begun.cancel(new Error('late'))).toBe(false);
  expect(waiting.cancel(new Error('gone'))).toBe(true);
  await expect(waiting.result).rejects.toThrow('gone');
  expect(await begun.result).toBe('waited');
});

test('nobody has to wait for an abandoned task', async () => {
  const { give } = open();
  const begun = give('a', { do: 'wait', ms: 200 });
  begun.abandon(new Error('over'));
  await expect(begun.result).rejects.toThrow('over');
  // That does not free the thread.
  const started = performance.now();
  expect(await give('a', { do: 'say', text: 'next' }).result).toBe('next');
  expect(performance.now() - started).toBeGreaterThan(100);
});

test('a closed pool leaves nobody waiting and nothing running', async () => {
  const before = threads();
  const { give, pool } = open();
  const all = [give('a', { do: 'spin' }), give('a', { do: 'say', text: 'x' })];
  const ends = Promise.allSettled(all.map(({ result }) => result));
  await pool.close();
  expect(await ends).toMatchObject([
    { status: 'rejected', reason: failure('ended') },
    { status: 'rejected', reason: failure('ended') },
  ]);
  await expect(give('a', { do: 'say', text: 'x' }).result).rejects.toMatchObject(failure('ended'));
  expect(threads()).toBe(before);
});
