import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBodyPace, slowestPace, type BodyPace, type PacedBody } from './body-pace.ts';

const windowMs = 30_000;

let now: number;
let pace: BodyPace;
beforeEach(() => {
  vi.useFakeTimers();
  now = 0;
  pace = createBodyPace(slowestPace, () => now);
});
afterEach(() => void vi.useRealTimers());

/** A body whose bytes arrive when the test sends them. */
function start() {
  const socket = { bytesRead: 500 };
  const request = Object.assign(new EventEmitter(), { socket, destroyed: false });
  const refuse = vi.fn<PacedBody['refuse']>();
  const body: PacedBody = {
    request: request as unknown as IncomingMessage,
    refuse,
    since: 0,
    receivedBytes: 0,
  };
  pace.watch(body);
  return { body, request, refuse, receive: (bytes: number) => (socket.bytesRead += bytes) };
}

function pass(milliseconds: number): void {
  for (let left = milliseconds; left > 0; left -= 1_000) {
    now += 1_000;
    vi.advanceTimersByTime(1_000);
  }
}

test('a body must deliver 30 KiB in each 30 seconds', () => {
  const slow = start();
  const enough = start();
  slow.receive(30 * 1024 - 1);
  enough.receive(30 * 1024);
  pass(windowMs - 1_000);
  expect(slow.refuse).not.toHaveBeenCalled();
  pass(1_000);
  const tooSlow = expect.objectContaining({ errorName: 'body_too_slow' });
  expect(slow.refuse.mock.calls).toEqual([[tooSlow]]);
  expect(enough.refuse).not.toHaveBeenCalled();
  // What came in one window does not count in the next.
  pass(windowMs);
  expect(enough.refuse.mock.calls).toEqual([[tooSlow]]);
});

test('a finished body, and one whose client disconnected, are not checked', () => {
  const read = start();
  const left = start();
  pace.unwatch(read.body);
  left.request.destroyed = true;
  pass(2 * windowMs);
  expect([read.refuse.mock.calls, left.refuse.mock.calls]).toEqual([[], []]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a busy process gives a body another window', () => {
  const slow = start();
  now += windowMs;
  vi.advanceTimersByTime(5_000);
  expect(slow.refuse).not.toHaveBeenCalled();
  pass(windowMs);
  expect(slow.refuse).toHaveBeenCalledOnce();
});
