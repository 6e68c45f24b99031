import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Worker } from 'node:worker_threads';
import { describe, expect, test, vi } from 'vitest';
import { footprint, leftBehind, surroundings } from '../support/footprint.ts';

const noop = () => {};

/** What a file could leave behind, and how it would have put that right. */
const cases: readonly [what: string, leave: () => (() => unknown) | Promise<() => unknown>][] = [
  ['open Timeout: 1', () => clearInterval.bind(null, setInterval(noop, 60_000))],
  [
    'open TCPServerWrap: 1',
    async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return () => new Promise((resolve) => server.close(resolve));
    },
  ],
  [
    'thread: 1',
    async () => {
      const worker = new Worker('setInterval(() => {}, 60_000)', { eval: true });
      await once(worker, 'online');
      return () => worker.terminate();
    },
  ],
  [
    `process ${process.execPath}: 1`,
    () => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)']);
      return () => {
        child.kill('SIGKILL');
        return once(child, 'exit');
      };
    },
  ],
  [
    'listeners of SIGUSR2: 1',
    () => {
      process.on('SIGUSR2', noop);
      return () => process.off('SIGUSR2', noop);
    },
  ],
  [
    'process.env.SLUICE_LEFT was changed',
    () => {
      process.env['SLUICE_LEFT'] = '1';
      return () => delete process.env['SLUICE_LEFT'];
    },
  ],
  [
    'Date.now was changed',
    () => {
      const spy = vi.spyOn(Date, 'now');
      return () => spy.mockRestore();
    },
  ],
  [
    'a false clock: 1',
    () => {
      vi.useFakeTimers({ toFake: ['queueMicrotask'] });
      return () => vi.useRealTimers();
    },
  ],
];

describe('what a file of tests leaves behind', () => {
  test.each(cases)('%s', async (what, leave) => {
    const before = surroundings();
    const putRight = await leave();
    expect(leftBehind(before, surroundings())).toContain(what);
    await putRight();
    await expect.poll(() => leftBehind(before, surroundings())).not.toContain(what);
  });

  test('a removed variable of the environment', () => {
    process.env['SLUICE_LEFT'] = '1';
    const before = surroundings();
    delete process.env['SLUICE_LEFT'];
    expect(leftBehind(before, surroundings())).toContain('process.env.SLUICE_LEFT was removed');
  });
});

test('processes are counted, whether or not they are waited for', async () => {
  const before = footprint().processes;
  execFileSync(process.execPath, ['--version']);
  await once(spawn(process.execPath, ['--version']), 'exit');
  expect(footprint().processes - before).toBe(2);
});
