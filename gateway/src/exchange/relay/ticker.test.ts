import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { createTicker, type TickRegistration } from './ticker.ts';

test('R-27 one that throws is ended; the others are called as before', () => {
  vi.useFakeTimers();
  const errors: unknown[] = [];
  const ticker = createTicker({ monotonic: () => 7 }, (error) => errors.push(error), 10);
  try {
    const broken = {
      tick: vi.fn<() => void>(() => {
        throw new Error('a bug');
      }),
      end: vi.fn<() => void>(() => {
        throw new Error('another');
      }),
    };
    const sound = { tick: vi.fn<() => void>(), end: vi.fn<() => void>() };
    ticker.add(broken);
    ticker.add(sound);
    vi.advanceTimersByTime(20);
    expect(broken.tick).toHaveBeenCalledTimes(1);
    expect(broken.end).toHaveBeenCalledWith(
      expect.objectContaining({ errorName: 'internal_error' }),
    );
    expect(errors.map(String)).toEqual(['Error: a bug', 'Error: another']);
    expect(sound.tick.mock.calls).toEqual([[7], [7]]);
  } finally {
    ticker.close();
    vi.useRealTimers();
  }
});

test('R-25 once all is ended, what comes after is ended too', () => {
  vi.useFakeTimers();
  const ticker = createTicker({ monotonic: () => 0 }, () => {}, 10);
  try {
    const addListener = () => {
      const listener = { tick: vi.fn<() => void>(), end: vi.fn<() => void>(() => ticks.end()) };
      const ticks = ticker.add(listener);
      return listener;
    };
    const early = addListener();
    ticker.endAll();
    const late = addListener();
    vi.advanceTimersByTime(10);
    for (const { tick, end } of [early, late]) {
      expect(tick).not.toHaveBeenCalled();
      expect(end).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ errorName: 'unavailable' }),
      );
    }
  } finally {
    ticker.close();
    vi.useRealTimers();
  }
});

test('a listener that has ended is collected with the young objects, however old the ticker is', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'major' | 'minor' }) => void;
  const ticker = createTicker({ monotonic: () => 0 }, () => {});
  const bytesEach = 1_600;
  const open: TickRegistration[] = [];
  const serve = (count: number): void => {
    for (let at = 0; at < count; at += 1) {
      const state = Array.from({ length: bytesEach / 8 }, () => 0.5);
      open.push(ticker.add({ tick: () => state.length, end: () => {} }));
      if (open.length > 50) open.shift()?.end();
    }
  };
  try {
    serve(1_000);
    collect({ type: 'major' });
    const before = process.memoryUsage().heapUsed;
    const rounds = 5;
    for (let round = 0; round < rounds; round += 1) {
      serve(2_000);
      collect({ type: 'minor' });
    }
    const kept = process.memoryUsage().heapUsed - before;
    expect(kept / (rounds * 2_000)).toBeLessThan(bytesEach / 4);
  } finally {
    ticker.close();
  }
});
