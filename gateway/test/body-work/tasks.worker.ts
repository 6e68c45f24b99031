import { setTimeout as wait } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import type { FromThread, ToThread } from '#body-work/thread.ts';
import type { TestTask } from './tasks.ts';

/* A thread that does what a test wants of it. */

const tell = (message: FromThread): void => parentPort?.postMessage(message);
let resolveReply: (reply: unknown) => void = () => {};

async function perform(task: TestTask): Promise<unknown> {
  switch (task.do) {
    case 'say':
      return task.text;
    case 'measure':
      return task.bytes.byteLength;
    case 'wait':
      await wait(task.ms);
      return 'waited';
    case 'spin':
      for (;;);
    case 'hoard': {
      const all: unknown[] = [];
      for (;;) all.push({ at: [all.length] });
    }
    case 'ask': {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      resolveReply = resolve;
      tell({ kind: 'question', question: task.question });
      return promise;
    }
    case 'die':
      throw new Error('died');
  }
}

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'reply') resolveReply(message.reply);
  else void perform(message.task as TestTask).then((result) => tell({ kind: 'done', result }));
});
tell({ kind: 'ready' });
