import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TaskLook, TaskState } from '#canonical/index.ts';
import { stepOf } from './state.ts';

const look = (state: TaskLook['state'], code: string | null = null): TaskLook => ({
  state,
  code,
  usage: { quantity: null, isImplausible: false },
  members: { said: state },
});

const looks = fc
  .constantFrom<TaskLook['state'][]>(
    'queued',
    'running',
    'succeeded',
    'failed',
    'cancelled',
    'expired',
    'withheld',
    'unknown',
  )
  .map((state) => look(state));

const rank: Readonly<Record<TaskState, number>> = {
  submitting: 0,
  queued: 1,
  running: 2,
  succeeded: 3,
  failed: 3,
  expired: 3,
};

const after = (state: TaskState, seen: TaskLook): TaskState => {
  const step = stepOf(state, seen);
  return step.kind === 'none' ? state : step.state;
};

describe('the state of a task', () => {
  test.each([
    ['queued', 'queued', 'queued'],
    ['queued', 'running', 'running'],
    ['running', 'queued', 'running'],
    ['queued', 'succeeded', 'succeeded'],
    ['running', 'failed', 'failed'],
    ['queued', 'cancelled', 'failed'],
    ['running', 'expired', 'expired'],
    ['running', 'unknown', 'running'],
    ['queued', 'withheld', 'queued'],
    ['submitting', 'succeeded', 'submitting'],
    ['succeeded', 'failed', 'succeeded'],
    ['expired', 'succeeded', 'expired'],
  ] as const)('%s, looked at as %s, is %s', (state, seen, expected) => {
    expect(after(state, look(seen))).toBe(expected);
  });

  test('only a failure has a code, and a cancellation is another kind of it', () => {
    expect(stepOf('running', look('failed', 'Some.Code'))).toMatchObject({
      failure: { kind: 'failed', code: 'Some.Code' },
    });
    expect(stepOf('queued', look('cancelled', 'Some.Code'))).toMatchObject({
      state: 'failed',
      failure: { kind: 'cancelled', code: null },
    });
    expect(stepOf('queued', look('succeeded'))).toMatchObject({ failure: null });
  });

  test('never goes back, in whatever order looks come, however often, whichever are lost', () => {
    fc.assert(
      fc.property(fc.array(looks, { maxLength: 30 }), (seen) => {
        let state: TaskState = 'queued';
        for (const one of seen) {
          const next = after(state, one);
          expect(rank[next]).toBeGreaterThanOrEqual(rank[state]);
          if (rank[state] === 3) expect(next).toBe(state);
          state = next;
        }
      }),
    );
  });

  test('is that of the first end that was seen, whatever else was', () => {
    fc.assert(
      fc.property(fc.array(looks, { maxLength: 30 }), (seen) => {
        const ends = seen.filter(({ state }) => rank[after('queued', look(state))] === 3);
        const last = seen.reduce<TaskState>((state, one) => after(state, one), 'queued');
        if (ends.length > 0) expect(last).toBe(after('queued', ends[0]!));
        else expect(rank[last]).toBeLessThan(3);
      }),
    );
  });

  test('is the same however often each look is repeated', () => {
    fc.assert(
      fc.property(fc.array(looks, { maxLength: 20 }), (seen) => {
        const run = (all: readonly TaskLook[]) =>
          all.reduce<TaskState>((state, one) => after(state, one), 'queued');
        expect(run(seen.flatMap((one) => [one, one]))).toBe(run(seen));
      }),
    );
  });
});
