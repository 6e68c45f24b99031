import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBackOff, createWorkerPool, type WorkerEvents } from './worker-pool.ts';
import type { FromWorker, ToWorker } from './messages.ts';

interface Fake {
  readonly number: number;
  readonly received: ToWorker[];
  say(message: FromWorker): void;
  exit(code: number | null): void;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function createFakes() {
  const forked: Fake[] = [];
  const warnings: string[] = [];
  const pool = createWorkerPool({
    size: 2,
    fork(number: number, events: WorkerEvents) {
      const received: ToWorker[] = [];
      forked.push({
        number,
        received,
        say: (message) => events.onMessage(message),
        exit: (code) => events.onExit(code),
      });
      return { send: (message) => void received.push(message) };
    },
    begin: (degraded) => ({ kind: 'degraded', degraded: [`begin ${forked.length}`, ...degraded] }),
    problems: () => ['an orphan'],
    renderMetrics: async () => 'all',
    log: { info: () => {}, warn: (_message, fields) => void warnings.push(fields?.detail ?? '') },
    monotonic: () => Date.now(),
  });
  const listen = (index: number): void => {
    forked[index]!.say({ kind: 'ready' });
    forked[index]!.say({ kind: 'listening', greeting: `hello from ${index}` });
  };
  const serve = async (): Promise<void> => {
    const started = pool.start();
    listen(0);
    await vi.advanceTimersByTimeAsync(0);
    listen(1);
    await started;
  };
  return { pool, forked, warnings, listen, serve };
}

test('the first worker starts alone, the others follow, and one greeting is printed', async () => {
  const { pool, forked, listen } = createFakes();
  const started = pool.start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(forked.map(({ number }) => number)).toEqual([1]);
  // Nothing is said to a worker that does not hear yet.
  expect(forked[0]!.received).toEqual([]);
  listen(0);
  expect(forked[0]!.received).toEqual([{ kind: 'degraded', degraded: ['begin 1', 'an orphan'] }]);
  await vi.advanceTimersByTimeAsync(0);
  expect(forked.map(({ number }) => number)).toEqual([1, 2]);
  listen(1);
  expect(await started).toBe('hello from 0');
});

test('a first worker that cannot start ends the start', async () => {
  const { pool, forked } = createFakes();
  const started = pool.start();
  forked[0]!.exit(1);
  await expect(started).rejects.toThrow('the first worker could not start');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(forked).toHaveLength(1);
});

test('a dead worker is replaced under its number, later and later', async () => {
  const { forked, warnings, listen, serve } = createFakes();
  await serve();
  for (const pause of [500, 1_000, 2_000]) {
    forked.at(-1)!.exit(null);
    await vi.advanceTimersByTimeAsync(pause - 1);
    const before = forked.length;
    await vi.advanceTimersByTimeAsync(1);
    expect(forked).toHaveLength(before + 1);
    expect(forked.at(-1)!.number).toBe(2);
  }
  expect(warnings[0]).toBe('worker 2, killed by a signal');
  listen(forked.length - 1);
  await vi.advanceTimersByTimeAsync(60_000);
  forked.at(-1)!.exit(1);
  await vi.advanceTimersByTimeAsync(500);
  expect(forked).toHaveLength(6);
  expect(warnings.at(-1)).toBe('worker 2, exit code 1');
});

test('stopping waits for every worker, includes those still starting, and replaces none', async () => {
  const { pool, forked, serve } = createFakes();
  await serve();
  forked[1]!.exit(1);
  await vi.advanceTimersByTimeAsync(500);
  const stopped = pool.stop(5_000);
  const stop: ToWorker = { kind: 'stop', keepListening: 5_000 };
  expect(forked[0]!.received.at(-1)).toEqual(stop);
  expect(forked[2]!.received).toEqual([]);
  forked[2]!.say({ kind: 'ready' });
  expect(forked[2]!.received.at(-1)).toEqual(stop);
  forked[0]!.exit(0);
  let isOver = false;
  void stopped.then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(isOver).toBe(false);
  // It was never able to take the signal that the whole group got.
  forked[2]!.exit(null);
  expect(await stopped).toBe(true);
  expect(forked).toHaveLength(3);
});

test('a hurry reaches every worker', async () => {
  const { pool, forked, serve } = createFakes();
  await serve();
  const hurry = Promise.withResolvers<void>();
  const stopped = pool.stop(5_000, hurry.promise);
  hurry.resolve();
  await vi.advanceTimersByTimeAsync(0);
  for (const each of forked) {
    expect(each.received.slice(-2)).toEqual([
      { kind: 'stop', keepListening: 5_000 },
      { kind: 'hurry' },
    ]);
    each.exit(0);
  }
  expect(await stopped).toBe(true);
});

test('a worker that does not end well is reported', async () => {
  const { pool, forked, serve } = createFakes();
  await serve();
  const stopped = pool.stop(0);
  forked[0]!.exit(0);
  forked[1]!.exit(null);
  expect(await stopped).toBe(false);
});

test('questions go to listening workers; dead and silent ones are left out', async () => {
  const { pool, forked, serve } = createFakes();
  await serve();
  const answers = pool.askAll('metrics');
  const ask = forked[0]!.received.at(-1) as ToWorker & { kind: 'ask' };
  forked[0]!.say({ kind: 'answer', id: ask.id, value: 'mine' });
  forked[1]!.exit(1);
  expect(await answers).toEqual(['mine']);
  const silent = pool.askAll('metrics');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await silent).toEqual([]);
});

test('a worker that asks gets the metrics of all', async () => {
  const { forked, serve } = createFakes();
  await serve();
  forked[1]!.say({ kind: 'ask', id: 7, question: 'metrics' });
  await vi.advanceTimersByTimeAsync(0);
  expect(forked[1]!.received.at(-1)).toEqual({ kind: 'answer', id: 7, value: 'all' });
});

test('what a worker has for the others reaches them, and not itself', async () => {
  const { forked, serve } = createFakes();
  await serve();
  const message = { kind: 'peers', value: ['for you'] } as const;
  forked[1]!.say(message);
  expect(forked[0]!.received.at(-1)).toEqual(message);
  expect(forked[1]!.received).not.toContain(message);
});

test('every worker answers for the problems of all, until their worker dies', async () => {
  const { forked, serve, listen } = createFakes();
  await serve();
  const last = (index: number) => forked[index]!.received.at(-1);
  const say = (index: number, ...degraded: string[]) =>
    forked[index]!.say({ kind: 'degraded', degraded });
  say(0, 'database');
  say(1, 'journal', 'database');
  const all = { kind: 'degraded', degraded: ['an orphan', 'database', 'journal'] };
  expect([last(0), last(1)]).toEqual([all, all]);
  forked[1]!.exit(1);
  expect(last(0)).toEqual({ kind: 'degraded', degraded: ['an orphan', 'database'] });
  await vi.advanceTimersByTimeAsync(500);
  listen(2);
  expect(last(2)).toEqual({ kind: 'degraded', degraded: ['begin 3', 'an orphan', 'database'] });
});

test('the pause doubles up to half a minute, and a long life resets it', () => {
  const pauseAfter = createBackOff();
  const young = Array.from({ length: 9 }, () => pauseAfter(100));
  expect(young).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect([pauseAfter(60_000), pauseAfter(1)]).toEqual([500, 1_000]);
});
