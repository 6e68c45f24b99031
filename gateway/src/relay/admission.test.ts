import { describe, expect, test, vi } from 'vitest';
import { createAdmission } from './admission.ts';

describe('R-24 places for requests', () => {
  test('places are given back in the order of coming', () => {
    const admission = createAdmission({ inFlight: 2, queue: 2, isOverloaded: () => false });
    const told: string[] = [];
    expect([admission.tryEnter(), admission.tryEnter(), admission.tryEnter()]).toEqual([
      true,
      true,
      false,
    ]);
    admission.wait((refusal) => told.push(`first ${refusal?.errorName ?? 'in'}`));
    admission.wait((refusal) => told.push(`second ${refusal?.errorName ?? 'in'}`));
    expect(() => admission.wait(() => {})).toThrow(
      expect.objectContaining({ errorName: 'overloaded', retryAfter: 1 }),
    );
    admission.leave();
    // Who comes now does not overtake.
    expect(admission.tryEnter()).toBe(false);
    expect(told).toEqual(['first in']);
    admission.leave();
    expect(told).toEqual(['first in', 'second in']);
    expect([admission.inFlight, admission.waiting]).toEqual([2, 0]);
    admission.leave();
    admission.leave();
    expect(admission.inFlight).toBe(0);
  });

  test('who gives up is told once and passed over', () => {
    const admission = createAdmission({ inFlight: 1, queue: 2, isOverloaded: () => false });
    admission.tryEnter();
    const told: string[] = [];
    const first = admission.wait((refusal) => told.push(`first ${refusal?.errorName ?? 'in'}`));
    admission.wait((refusal) => told.push(`second ${refusal?.errorName ?? 'in'}`));
    first.giveUp();
    first.giveUp();
    admission.leave();
    expect(told).toEqual(['first overloaded', 'second in']);
  });

  test('nobody waits longer than is good', () => {
    vi.useFakeTimers();
    try {
      const admission = createAdmission({ inFlight: 1, queue: 1, isOverloaded: () => false });
      admission.tryEnter();
      const told = vi.fn<(refusal: unknown) => void>();
      admission.wait(told);
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
    let isOverloaded = false;
    const admission = createAdmission({ inFlight: 9, queue: 9, isOverloaded: () => isOverloaded });
    admission.tryEnter();
    isOverloaded = true;
    expect(admission.tryEnter()).toBe(false);
    expect(() => admission.wait(() => {})).toThrow('temporarily unavailable');
    expect(admission.inFlight).toBe(1);
    isOverloaded = false;
    expect(admission.tryEnter()).toBe(true);
  });
});
