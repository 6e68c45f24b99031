import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WriteStall } from './write-stall.ts';

const limit = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Tells of a time-out as Node does: bytes that the system took since the last look restart it instead. */
class FakeSocket extends EventEmitter {
  readonly #response: EventEmitter;
  timeout = 0;
  isDestroyed = false;
  #hasProgress = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(response: EventEmitter) {
    super();
    this.#response = response;
  }

  setTimeout(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.timeout = milliseconds;
    if (milliseconds > 0) this.#timer = setTimeout(() => this.#expire(), milliseconds);
  }

  progress(): void {
    this.#hasProgress = true;
  }

  destroy(): void {
    this.setTimeout(0);
    this.isDestroyed = true;
  }

  #expire(): void {
    if (!this.#hasProgress) this.#response.emit('timeout');
    else this.setTimeout(this.timeout);
    this.#hasProgress = false;
  }
}

function startStall() {
  const response = new EventEmitter();
  const socket = new FakeSocket(response);
  const stall = new WriteStall(
    response as unknown as ServerResponse,
    socket as unknown as Socket,
    limit,
  );
  stall.begin();
  return { response, socket, stall };
}

/** Milliseconds until the client is cut off. */
function untilCut({ socket }: ReturnType<typeof startStall>): number {
  let waited = 0;
  for (; !socket.isDestroyed && waited < 10 * limit; waited += 10) vi.advanceTimersByTime(10);
  return waited;
}

test('a client that accepts nothing is cut off after the limit', () => {
  expect(untilCut(startStall())).toBe(limit);
});

test.each([10, 240, 260, 700, 990])(
  'R-21 progress for %d ms does not extend the time by more than one check',
  (milliseconds) => {
    const client = startStall();
    for (let at = 0; at < milliseconds; at += 10) {
      client.socket.progress();
      vi.advanceTimersByTime(10);
    }
    const waited = untilCut(client);
    expect(waited).toBeGreaterThanOrEqual(limit);
    expect(waited).toBeLessThanOrEqual(1.25 * limit);
  },
);

test('a client that accepts something before every limit is never cut off', () => {
  const { socket } = startStall();
  for (let turn = 0; turn < 20; turn += 1) {
    vi.advanceTimersByTime(0.9 * limit);
    socket.progress();
  }
  expect(socket.isDestroyed).toBe(false);
});

test.each(['drained', 'closed'])('nothing is timed after everything is %s', (how) => {
  const { socket, response } = startStall();
  if (how === 'drained') socket.emit('drain');
  else response.emit('close');
  vi.advanceTimersByTime(10 * limit);
  expect([socket.timeout, socket.isDestroyed]).toEqual([0, false]);
});
