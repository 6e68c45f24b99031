import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { createPace, type Pace } from './pace.ts';

describe('the pace of looks', () => {
  let time: number;
  let nodes: number;
  let pace: Pace;
  beforeEach(() => {
    time = 0;
    nodes = 1;
    pace = createPace(
      () => time,
      () => nodes,
    );
  });

  test('spaces the looks at a channel evenly, and leaves other channels alone', () => {
    expect([1, 2, 3].map(() => pace.reserve('a', 10, 1_000))).toEqual([0, 100, 200]);
    expect(pace.reserve('b', 10, 1_000)).toBe(0);
  });

  test('refuses a look that would wait for too long, without taking its turn', () => {
    expect(pace.reserve('a', 1, 0)).toBe(0);
    expect(pace.reserve('a', 1, 999)).toBeNull();
    expect(pace.reserve('a', 1, 1_000)).toBe(1_000);
  });

  test('is shared among the live nodes', () => {
    nodes = 4;
    expect([1, 2].map(() => pace.reserve('a', 10, 1_000))).toEqual([0, 400]);
  });

  test.each([
    [3, 3_000],
    [null, 10_000],
    [0, 10_000],
    [100_000, 600_000],
  ])('rests for as long as it says: %s', (seconds, milliseconds) => {
    pace.rest('a', seconds);
    time = milliseconds - 1;
    expect(pace.reserve('a', 10, 1_000)).toBeNull();
    expect(pace.busy()).toEqual(['a']);
    time = milliseconds;
    expect(pace.reserve('a', 10, 1_000)).toBe(0);
    expect(pace.busy()).toEqual([]);
  });

  test('a shorter rest does not end a longer one', () => {
    pace.rest('a', 60);
    pace.rest('a', 1);
    time = 59_999;
    expect(pace.busy()).toEqual(['a']);
  });

  test('a channel whose turns are taken for a second is busy', () => {
    for (let count = 0; count < 15; count += 1) pace.reserve('a', 15, 10_000);
    expect(pace.busy()).toEqual([]);
    for (let count = 0; count < 2; count += 1) pace.reserve('a', 15, 10_000);
    expect(pace.busy()).toEqual(['a']);
  });

  test('no second has more looks than the vendor allows, whenever they are asked for', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 80 }), (pauses) => {
        let now = 0;
        const own = createPace(
          () => now,
          () => 1,
        );
        const looks = pauses.flatMap((pause) => {
          now += pause;
          const wait = own.reserve('a', 15, 10_000);
          return wait === null ? [] : [now + wait];
        });
        for (const from of looks) {
          const within = looks.filter((at) => at >= from && at < from + 999);
          expect(within.length).toBeLessThanOrEqual(15);
        }
      }),
    );
  });
});
