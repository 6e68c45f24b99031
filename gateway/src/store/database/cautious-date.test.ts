import { beforeEach, expect, test } from 'vitest';
import { createCautiousDate } from './cautious-date.ts';

const hour = 3_600_000;
const year = 365 * 24 * hour;

let wall: number;
let elapsed: number;
let date: () => number;
beforeEach(() => {
  [wall, elapsed] = [1_000_000, 500];
  date = createCautiousDate({ now: () => wall, monotonic: () => elapsed });
});

function pass(milliseconds: number): void {
  wall += milliseconds;
  elapsed += milliseconds;
}

test('a clock set forward is not trusted before a day has passed', () => {
  pass(hour);
  expect(date()).toBe(wall);
  wall += year;
  expect(date()).toBe(wall - year);
  pass(24 * hour - 1);
  expect(date()).toBe(wall - year);
  pass(1);
  expect(date()).toBe(wall);
});

test('a clock that is right again after hours has done no harm', () => {
  wall += year;
  expect(date()).toBe(wall - year);
  pass(23 * hour);
  expect(date()).toBe(wall - year);
  wall -= year;
  expect(date()).toBe(wall);
  pass(2 * hour);
  wall += year;
  expect(date()).toBe(wall - year);
  pass(2 * hour);
  expect(date()).toBe(wall - year);
});

test('a clock set back, or forward by seconds, is trusted at once', () => {
  wall -= 5 * hour;
  expect(date()).toBe(wall);
  wall += 50_000;
  expect(date()).toBe(wall);
  pass(hour);
  expect(date()).toBe(wall);
});
