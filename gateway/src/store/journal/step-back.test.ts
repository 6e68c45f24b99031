import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

test.skipIf(process.platform !== 'linux')('one thread steps back, and no other does', async () => {
  const before = getPriority();
  const program = `
      const { parentPort } = require('node:worker_threads');
      const { readlinkSync } = require('node:fs');
      import(${JSON.stringify(new URL('./step-back.ts', import.meta.url).href)}).then(({ stepBack }) => {
        parentPort.postMessage({ done: stepBack(), thread: readlinkSync('/proc/thread-self') });
        setTimeout(() => {}, 1_000);
      });`;
  const worker = new Worker(program, { eval: true });
  const { done, thread } = await new Promise<{ done: boolean; thread: string }>(
    (resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    },
  );
  const stat = readFileSync(`/proc/${thread}/stat`, 'latin1');
  const niceness = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  await worker.terminate();
  expect({ done, niceness }).toEqual({ done: true, niceness: 5 });
  expect(getPriority()).toBe(before);
});
