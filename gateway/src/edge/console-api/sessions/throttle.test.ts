import { expect, test } from 'vitest';
import { createSignInThrottle } from './throttle.ts';

const names = ['account a', 'address 1'];

test('four failures are free, and each further one doubles the delay up to a quarter of an hour', () => {
  const throttle = createSignInThrottle();
  const waits: number[] = [];
  let now = 0;
  for (let at = 0; at < 20; at += 1) {
    throttle.failed(names, now);
    waits.push(throttle.wait(names, now));
    now += 1_000 * (waits.at(-1) ?? 0);
    expect(throttle.wait(names, now)).toBe(0);
  }
  expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, ...Array(6).fill(900)]);
});

test('each name counts by itself, and a success forgets it', () => {
  const throttle = createSignInThrottle();
  for (let at = 0; at < 6; at += 1) throttle.failed(names, 0);
  expect(throttle.wait(['account a', 'address 2'], 0)).toBe(2);
  expect(throttle.wait(['account b', 'address 1'], 0)).toBe(2);
  expect(throttle.wait(['account b', 'address 2'], 0)).toBe(0);
  throttle.succeeded(names);
  expect(throttle.wait(names, 0)).toBe(0);
});

test('an hour after the last failure a count begins anew', () => {
  const throttle = createSignInThrottle();
  for (let at = 0; at < 6; at += 1) throttle.failed(names, 0);
  throttle.failed(names, 3_600_001);
  expect(throttle.wait(names, 3_600_001)).toBe(0);
});
