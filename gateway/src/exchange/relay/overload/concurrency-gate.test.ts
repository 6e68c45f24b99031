import { describe, expect, test, vi } from 'vitest';
import { createConcurrencyGate } from './concurrency-gate.ts';

describe('R-24 places for requests', () => {
  test('places are given back in the order of coming', () => {
    const gate = createConcurrencyGate({ inFlight: 2, queue: 2, pressure: () => null });
    const told: string[] = [];
    expect([gate.tryEnter(false), gate.tryEnter(false), gate.tryEnter(false)]).toEqual([
      true,
      true,
      false,
    ]);
    gate.wait(false, (refusal) => told.push(`first ${refusal?.errorName ?? 'in'}`));
    gate.wait(false, (refusal) => told.push(`second ${refusal?.errorName ?? 'in'}`));
    expect(() => gate.wait(false, () => {})).toThrow(
      expect.objectContaining({ errorName: 'overloaded', retryAfter: 1 }),
    );
    gate.leave();
    // Who comes now does not overtake.
    expect(gate.tryEnter(false)).toBe(false);
    expect(told).toEqual(['first in']);
    gate.leave();
    expect(told).toEqual(['first in', 'second in']);
    expect([gate.inFlight, gate.waiting]).toEqual([2, 0]);
    gate.leave();
    gate.leave();
    expect(gate.inFlight).toBe(0);
  });

  test('a request that gives up is notified once and skipped', () => {
    const gate = createConcurrencyGate({ inFlight: 1, queue: 2, pressure: () => null });
    gate.tryEnter(false);
    const told: string[] = [];
    const first = gate.wait(false, (refusal) => told.push(`first ${refusal?.errorName ?? 'in'}`));
    gate.wait(false, (refusal) => told.push(`second ${refusal?.errorName ?? 'in'}`));
    first.giveUp();
    first.giveUp();
    gate.leave();
    expect(told).toEqual(['first overloaded', 'second in']);
  });

  test('nobody waits longer than is good', () => {
    vi.useFakeTimers();
    try {
      const gate = createConcurrencyGate({ inFlight: 1, queue: 1, pressure: () => null });
      gate.tryEnter(false);
      const told = vi.fn<(refusal: unknown) => void>();
      gate.wait(false, told);
      vi.advanceTimersByTime(4_999);
      expect(told).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(told).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ errorName: 'overloaded' }),
      );
      expect(gate.waiting).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('under pressure nobody new is let in; who is in stays', () => {
    let isHigh = false;
    const pressure = () => (isHigh ? 'memory' : null);
    const gate = createConcurrencyGate({ inFlight: 9, queue: 9, pressure });
    gate.tryEnter(false);
    isHigh = true;
    expect(gate.tryEnter(false)).toBe(false);
    expect(() => gate.wait(false, () => {})).toThrow('temporarily unavailable');
    expect(gate.inFlight).toBe(1);
    isHigh = false;
    expect(gate.tryEnter(false)).toBe(true);
  });

  test('refusals are counted by their cause, and nobody who left or got a place is', () => {
    vi.useFakeTimers();
    try {
      const pressure = (isLarge: boolean) => (isLarge ? 'lag' : null);
      const gate = createConcurrencyGate({ inFlight: 1, queue: 2, pressure });
      expect([gate.tryEnter(true), gate.tryEnter(false)]).toEqual([false, true]);
      expect(() => gate.wait(true, () => {})).toThrow('temporarily unavailable');
      gate.wait(false, () => {}).giveUp();
      gate.wait(false, () => {});
      gate.wait(false, () => {});
      expect(() => gate.wait(false, () => {})).toThrow('temporarily unavailable');
      expect(gate.refused).toEqual({ places: 1, lag: 1, memory: 0 });
      gate.leave();
      vi.advanceTimersByTime(5_000);
      expect(gate.refused).toEqual({ places: 2, lag: 1, memory: 0 });
    } finally {
      vi.useRealTimers();
    }
  });
});
