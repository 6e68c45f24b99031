import { expect, test } from 'vitest';
import type { BodyPool } from '#body-work/index.ts';
import { usualWeights } from '#body-work/body-pool.ts';
import { GatewayError } from '#errors/index.ts';
import { ClientGone } from '../exchange.ts';
import type { TickListener } from '../ticker.ts';
import type { TextInput } from './input.ts';
import { largeBodyOf } from './large-body.ts';

const target = { upstreamModel: 'up', maxOutputTokens: null };

function open(body: number | Buffer, headers: Record<string, string> = {}) {
  const watched = new Set<TickListener>();
  const client = { disconnected: false };
  const given: Buffer[] = [];
  const works: { finish(body: Buffer, value: unknown): void; hasBegun: boolean }[] = [];
  const bodies = {
    weights: usualWeights,
    run(_key: string, _name: string, args: { body: Buffer }) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const finish = (body: Buffer, value: unknown) => {
        args.body = body;
        resolve(value);
      };
      const work = { finish, hasBegun: false };
      given.push(args.body);
      works.push(work);
      return {
        result: promise,
        cancel(error: Error) {
          if (!work.hasBegun) reject(error);
          return !work.hasBegun;
        },
        abandon: reject,
      };
    },
  } as unknown as BodyPool;
  const ticker = {
    add(one: TickListener) {
      watched.add(one);
      return { end: () => void watched.delete(one) };
    },
    endAll: () => {},
    close: () => {},
  };
  const input = {
    id: 'req_1',
    startedAt: 0,
    body: typeof body === 'number' ? Buffer.alloc(body) : body,
    headers,
    client,
    caller: { keyId: 'key_1' },
  } as unknown as TextInput;
  return { large: largeBodyOf({ bodies, ticker }, input), input, client, watched, given, works };
}

test.each([
  [256 * 1024 - 1, null],
  [256 * 1024, false],
  [1024 * 1024 - 1, false],
  [1024 * 1024, true],
])('a body of %d bytes is read in a thread: %j', (bytes, isRead) => {
  expect(open(bytes).large?.isRead ?? null).toBe(isRead);
});

test.each([
  [9_999, null],
  [10_001, true],
])('a short body of %d values is read in a thread: %j', (values, isRead) => {
  const body = Buffer.from(`[${'1,'.repeat(values - 1)}1]`);
  expect(open(body).large?.isRead ?? null).toBe(isRead);
});

test('work for a disconnected client is not started', async () => {
  const { large, client, watched } = open(2 ** 20);
  const opening = large!.open();
  for (const one of watched) one.tick(1);
  client.disconnected = true;
  for (const one of watched) one.tick(2);
  await expect(opening).rejects.toBeInstanceOf(ClientGone);
  expect(watched.size).toBe(0);
});

test('what has begun is waited for, as its thread has no time for others', async () => {
  const { large, input, client, watched, works } = open(2 ** 20);
  const opening = large!.open();
  works[0]!.hasBegun = true;
  client.disconnected = true;
  for (const one of watched) one.tick(1);
  const body = Buffer.from('again');
  works[0]!.finish(body, { model: 'm', facts: {} });
  expect((await opening).model).toBe('m');
  expect(input.body).toBe(body);
});

test('a client that waits no longer, or a gateway that stops, ends the wait', async () => {
  const late = open(2 ** 20, { 'x-stainless-timeout': '2' });
  const opening = late.large!.open();
  for (const one of late.watched) one.tick(1_999);
  expect(late.watched.size).toBe(1);
  for (const one of late.watched) one.tick(2_000);
  await expect(opening).rejects.toMatchObject({ errorName: 'unavailable' });

  const stopped = open(2 ** 20);
  const waiting = stopped.large!.open();
  for (const one of stopped.watched) one.end(new GatewayError('overloaded'));
  await expect(waiting).rejects.toMatchObject({ errorName: 'overloaded' });
});

test('bytes that an upstream is being sent are not handed over', async () => {
  const { large, input, given, works } = open(2 ** 20);
  const unchanged = input.body;
  const patching = large!.patch({ target, recalled: null });
  expect(given[0]).toBe(unchanged);
  const patched = { body: unchanged, rewrites: [], usageInjected: false };
  works[0]!.finish(unchanged, { patchedRequest: patched });
  await patching;
  const again = large!.patch({ target, recalled: null });
  expect(given[1]!.buffer).not.toBe(unchanged.buffer);
  expect(given[1]).toEqual(unchanged);
  const copy = Buffer.from(given[1]!);
  works[1]!.finish(copy, { patchedRequest: { ...patched, body: Buffer.alloc(3) } });
  await again;
  void large!.patch({ target, recalled: null });
  expect(given[2]).toBe(copy);
});
