import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Timeouts } from '#config/index.ts';
import { createUpstreamClient } from './client.ts';

const timeouts: Timeouts = {
  connect: 30_000,
  firstByte: 30_000,
  imageFirstByte: 30_000,
  streamIdle: 30_000,
  total: 30_000,
  keepaliveComment: 30_000,
};

const bytes = 4 * 2 ** 20;

/** Blocks for the given time, so that much has arrived by the end. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('others get turns while a response arrives faster than it is handled, and may pause it', async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.end(Buffer.alloc(bytes, '\n'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = createUpstreamClient({
    maxConnections: 1,
    onDefect: (error) => expect.fail(String(error)),
  });
  onTestFinished(() => client.close());

  const ended = Promise.withResolvers<void>();
  let all = 0;
  let inTurn = 0;
  let most = 0;
  let isPaused = false;
  const state = { isOver: false };
  const call = client.send(
    {
      origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      path: '/',
      method: 'POST',
      headers: {},
      body: Buffer.from('{}'),
      timeouts,
    },
    {
      onHead: () => {},
      onData(chunk) {
        expect(isPaused).toBe(false);
        all += chunk.length;
        inTurn += chunk.length;
        most = Math.max(most, inTurn);
        work(1);
        if (all < bytes / 2 || all - chunk.length >= bytes / 2) return;
        // In the same turn as the rest: whoever paused it decides when it resumes.
        isPaused = true;
        call.pause();
        setTimeout(() => {
          isPaused = false;
          call.resume();
        }, 50);
      },
      onEnd: ended.resolve,
      onBreak: ended.reject,
    },
  );
  const turns = async (): Promise<void> => {
    while (!state.isOver) {
      await nextTurn();
      inTurn = 0;
    }
  };
  const counting = turns();
  await ended.promise;
  state.isOver = true;
  await counting;
  expect(all).toBe(bytes);
  // What makes it rest is handled to its end.
  expect(most).toBeLessThanOrEqual(2 * 64 * 1024);
});
