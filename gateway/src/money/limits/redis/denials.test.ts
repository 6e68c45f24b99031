import { expect, test } from 'vitest';
import { Denials } from './denials.ts';

test('a full window reopens when Redis said, however late the reply came', () => {
  let now = 1_000;
  const denials = new Denials(() => now);
  const request = { id: 'a', limits: [{ name: 'rate', limit: 1, windowMs: 500 }] };
  const asked = now;
  now += 40;
  denials.add(request, [100], asked);
  expect(denials.of(request)).toEqual({ admitted: false, denied: 'rate', retryAfterMs: 60 });
  now = 1_099;
  expect(denials.of(request)).toMatchObject({ admitted: false });
  now = 1_100;
  expect(denials.of(request)).toBeNull();
});
