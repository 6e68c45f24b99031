import { describe, expect, test, vi } from 'vitest';
import { createAdmission } from './admission.ts';

describe('R-24 places for requests', () => {
  test('places are given back in the order of coming', () => {
    const admission = createAdmission({ inFlight: 2, queue: 2, pressure: () => null });
    const told: string[] = [];
    expect([
      admission.tryEnter(false),
      admission.tryEnter(false),
      admission.tryEnter(false),
    ]).toEqual([true, true, false]);
    admission.wait(false, (refusal) => told.push(`first ${refusal?.errorName ?? 'in'}`));
    admission.wait(false, (refusal) => told.push(`second ${refusal?.errorName ?? 'in'}`));
    expect(() => admission.wait(false, () => {})).toThrow(
      expect.objectContaining({ errorName: 'overloaded', retryAfter: 1 }),
    );
    admission.leave();
    // Who comes now does not overtake.
    expect(admission.tryEnter(false)).toBe(false);
    expect(told).toEqual(['first in']);
    admission.leave();
    expect(told).toEqual(['first in', 'second in']);
    expect([admission.inFlight, admission.waiting]).toEqual([2, 0]);
    admission.leave();
    admission.leave();
    expect(admission.inFlight).toBe(0);
  });

  test('who gives up is told once and passed over', () => {
    const admission = createAdmission({ inFlight: 1, queue: 2, pressure: () => null });
    admission.tryEnter(false);
    const told: string[] = [];
    const first = admission.wait(false, (refusal) =>
      told.push(`first ${refusal?.errorName ?? 'in'}`),
    );
    admission.wait(false, (refusal) => told.push(`second ${refusal?.errorName ?? 'in'}`));
    first.giveUp();
    first.giveUp();
    admission.leave();
    expect(told).toEqual(['first overloaded', 'second in']);
  });

  test('nobody waits longer than is good', () => {
    vi.useFakeTimers();
    try {
      const admission = createAdmission({ inFlight: 1, queue: 1, pressure: () => null });
      admission.tryEnter(false);
      const told = vi.fn<(refusal: unknown) => void>();
      admission.wait(false, told);
      vi.advanceTimersByTime(4_999);
      expect(told).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(told).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ errorName: 'overloaded' }),
      );
      expect(admission.waiting).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('under pressure nobody new is let in; who is in stays', () => {
    let isHigh = false;
    const pressure = () => (isHigh ? 'memory' : null);
    const admission = createAdmission({ inFlight: 9, queue: 9, pressure });
    admission.tryEnter(false);
    isHigh = true;
    expect(admission.tryEnter(false)).toBe(false);
    expect(() => admission.wait(false, () => {})).toThrow('temporarily unavailable');
    expect(admission.inFlight).toBe(1);
    isHigh = false;
    expect(admission.tryEnter(false)).toBe(true);
  });

  test('refusals are counted by their cause, and nobody who left or got a place is', () => {
    vi.useFakeTimers();
    try {
      const pressure = (isLarge: boolean) => (isLarge ? 'lag' : null);
      const admission = createAdmission({ inFlight: 1, queue: 2, pressure });
      expect([admission.tryEnter(true), admission.tryEnter(false)]).toEqual([false, true]);
      expect(() => admission.wait(true, () => {})).toThrow('temporarily unavailable');
      admission.wait(false, () => {}).giveUp();
      admission.wait(false, () => {});
      admission.wait(false, () => {});
      expect(() => admission.wait(false, () => {})).toThrow('temporarily unavailable');
      expect(admission.refused).toEqual({ places: 1, lag: 1, memory: 0 });
      admission.leave();
      vi.advanceTimersByTime(5_000);
      expect(admission.refused).toEqual({ places: 2, lag: 1, memory: 0 });
    } finally {
      vi.useRealTimers();
    }
  });
});
