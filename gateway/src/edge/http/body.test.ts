import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { expect, test, vi } from 'vitest';
import { type BodyClaim, createBodyMemory } from '#bodies/index.ts';
import { type BodyListener, createBodyParser } from './body.ts';

const limit = 4_096;
const text = `{"text":"${'a'.repeat(limit / 2)}"}`;

/** Sends the text to an endpoint; the listener is called with what it gets. */
function send(claim: BodyClaim | null) {
  const raw = Object.assign(Readable.from([Buffer.from(text)]), {
    headers: { 'content-type': 'application/json', 'content-length': String(text.length) },
  }) as unknown as IncomingMessage;
  const request = { raw, routeOptions: { config: {} }, bodyClaim: claim };
  const pace = { watch() {}, unwatch() {} };
  const done = vi.fn<BodyListener>();
  const parse = createBodyParser({ limit, pace, spool: null });
  parse(request as unknown as FastifyRequest, raw, done);
  return { done, isRead: () => raw.readableEnded };
}

const whole = [[null, Buffer.from(text)]];

test('a body that is not counted is read', async () => {
  const { done } = send(null);
  await expect.poll(() => done.mock.calls).toEqual(whole);
});

test('a body is read at once if there is memory for it', async () => {
  const memory = createBodyMemory({ limit: 8 * limit, monotonic: () => 0 });
  const { done } = send(memory.open('key'));
  expect(memory).toMatchObject({ usedBytes: 3 * text.length, waiting: 0 });
  await expect.poll(() => done.mock.calls).toEqual(whole);
});

test('a body waits until there is memory for it, and is not read before', async () => {
  const memory = createBodyMemory({ limit: 8 * limit, monotonic: () => 0 });
  const other = memory.open('other');
  other.tryBody(2 * limit);
  const { done, isRead } = send(memory.open('key'));
  expect(memory.waiting).toBe(1);
  await new Promise(setImmediate);
  expect(isRead()).toBe(false);
  other.release();
  expect(memory.waiting).toBe(0);
  await expect.poll(() => done.mock.calls).toEqual(whole);
});

test('a body gets the refusal if there is no memory in time', async () => {
  vi.useFakeTimers();
  let now = 0;
  const memory = createBodyMemory({ limit: 8 * limit, monotonic: () => now });
  memory.open('other').tryBody(2 * limit);
  const { done, isRead } = send(memory.open('key'));
  now = 60_000;
  vi.advanceTimersByTime(now);
  vi.useRealTimers();
  expect(done.mock.calls).toEqual([[expect.objectContaining({ errorName: 'overloaded' })]]);
  expect(isRead()).toBe(false);
});
