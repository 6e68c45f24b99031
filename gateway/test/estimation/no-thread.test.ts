import * as workerThreads from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTokenizerThread } from '#estimation/tokenizer-thread.ts';

// In a file and a process of its own: elsewhere the module may have been loaded with the real threads.
vi.mock('node:worker_threads', { spy: true });

test('without a thread nothing is counted, and the next attempt starts one', async () => {
  const problems: unknown[] = [];
  const thread = createTokenizerThread({
    idle: 60_000,
    patience: 20_000,
    onProblem: (error) => problems.push(error),
  });
  onTestFinished(() => thread.close());
  vi.mocked(workerThreads.Worker).mockImplementationOnce(function refused(): never {
    throw new Error('EAGAIN');
  });
  const texts = { said: ['one two three'], defined: [] };
  expect(await thread.count(texts)).toBeNull();
  expect(problems).toMatchObject([{ message: 'EAGAIN' }]);
  expect(await thread.count(texts)).toMatchObject({ said: 3 });
});
