import { expect, test } from 'vitest';
import { isUsable } from './caller.ts';

test.each([
  { enabled: true, expiresAt: null, usable: true },
  { enabled: true, expiresAt: 1_001, usable: true },
  { enabled: true, expiresAt: 1_000, usable: false },
  { enabled: true, expiresAt: 999, usable: false },
  { enabled: false, expiresAt: null, usable: false },
  { enabled: false, expiresAt: 1_001, usable: false },
])('at 1000, enabled $enabled until $expiresAt: $usable', ({ usable, ...key }) => {
  expect(isUsable(key, 1_000)).toBe(usable);
});
