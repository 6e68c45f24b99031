import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UsualTime } from './channel-state.ts';

test('the time is unknown before the first response', () => {
  expect(new UsualTime().milliseconds).toBeNull();
});

test('the estimate approaches the median of a long series', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 10, max: 5_000 }), { minLength: 3, maxLength: 9 }),
      (times) => {
        const usual = new UsualTime();
        for (let round = 0; round < 3_000; round += 1)
          usual.saw(times[(round * 11) % times.length]!);
        const seen = usual.milliseconds ?? -1;
        const sorted = times.toSorted((a, b) => a - b);
        // Between the neighbours of the middle, with the room that steps of a twentieth leave.
        const low = sorted[Math.floor((times.length - 1) / 2) - 1] ?? sorted[0]!;
        const high = sorted[Math.ceil((times.length - 1) / 2) + 1] ?? sorted.at(-1)!;
        expect(seen).toBeGreaterThanOrEqual(low * 0.7 - 5);
        expect(seen).toBeLessThanOrEqual(high * 1.3 + 5);
      },
    ),
  );
});

test('a single slow response hardly moves it', () => {
  const usual = new UsualTime();
  for (let round = 0; round < 100; round += 1) usual.saw(200);
  usual.saw(60_000);
  expect(usual.milliseconds).toBe(210);
});
