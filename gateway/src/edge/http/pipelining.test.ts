import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { boundPipelining } from './pipelining.ts';

class FakeSocket extends EventEmitter {
  #isPaused = false;
  pause(): void {
    this.#isPaused = true;
  }
  resume(): void {
    this.#isPaused = false;
    this.emit('resume');
  }
  isPaused(): boolean {
    return this.#isPaused;
  }
}

test('a connection with 16 requests that wait is not read until 8 of them have been responded to', () => {
  const socket = new FakeSocket();
  const listener = vi.fn<() => void>();
  const bounded = boundPipelining(listener);
  const ask = (): EventEmitter => {
    const response = new EventEmitter();
    bounded({ socket } as unknown as IncomingMessage, response as unknown as ServerResponse);
    return response;
  };
  const waiting = Array.from({ length: 15 }, ask);
  expect(socket.isPaused()).toBe(false);
  waiting.push(ask());
  expect(socket.isPaused()).toBe(true);
  // What the last read brought besides.
  waiting.push(ask(), ask());
  expect(listener).toHaveBeenCalledTimes(18);
  // As reading a body does.
  socket.resume();
  expect(socket.isPaused()).toBe(true);
  for (const response of waiting.splice(0, 9)) response.emit('close');
  expect(socket.isPaused()).toBe(true);
  waiting.pop()?.emit('close');
  expect(socket.isPaused()).toBe(false);
  socket.pause();
  socket.resume();
  expect(socket.isPaused()).toBe(false);
});
