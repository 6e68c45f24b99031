import { expect, test } from 'vitest';
import { createAdmissions } from './admissions.ts';

test('100 000 keys that were idle for a window are forgotten during later requests', () => {
  let now = 0;
  const admissions = createAdmissions(() => now);
  const admit = (key: number): void => {
    admissions.checkRates({
      id: `${key}`,
      limits: [{ name: `key:${key}:rpm`, limit: 60, windowMs: 60_000 }],
    });
  };
  for (let key = 0; key < 100_000; key += 1) admit(key);
  expect(admissions.size).toBe(100_000);
  now = 60_000;
  for (let request = 0; request < 100_000; request += 1) admit(request % 10);
  expect(admissions.size).toBe(10);
});
