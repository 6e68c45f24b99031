import { describe, expect, test } from 'vitest';
import {
  createAdminKeySecret,
  createKeySecret,
  isAdminKeySecret,
  isKeySecret,
  isMistyped,
} from './key-secret.ts';

/** As `docs/configuration.md` tells scanners, written without our code. */
const pattern = /\bs[ak]-[0-9A-Za-z]{40}sluice[0-9A-Za-z]{6}\b/;
function isVerified(key: string): boolean {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(key.slice(0, -6))) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const value = Array.from(key.slice(-6)).reduce(
    (sum, digit) => sum * 62 + digits.indexOf(digit),
    0,
  );
  return value === (crc ^ 0xffffffff) >>> 0;
}

describe.each([
  ['a new key', 'sk-', createKeySecret],
  ['a new admin key', 'sa-', createAdminKeySecret],
])('%s', (_name, prefix, create) => {
  test('is found and verified as scanners do it, and is unique', () => {
    const keys = Array.from({ length: 1000 }, create);
    for (const key of keys) {
      expect(pattern.exec(`key="${key}",`)?.[0]).toBe(key);
      expect(key.startsWith(prefix)).toBe(true);
      expect([key, isVerified(key), isMistyped(key)]).toEqual([key, true, false]);
      expect([isKeySecret(key), isAdminKeySecret(key)]).toEqual([
        prefix === 'sk-',
        prefix === 'sa-',
      ]);
    }
    expect(new Set(keys).size).toBe(1000);
    const used = new Set(keys.flatMap((key) => Array.from(key.slice(3, 43))));
    expect(used.size).toBe(62);
  });

  test('with any one character changed is mistyped', () => {
    const key = create();
    for (let at = 3; at < key.length; at += 1) {
      if (at >= 43 && at < 49) continue;
      const other = `${key.slice(0, at)}${key[at] === 'a' ? 'b' : 'a'}${key.slice(at + 1)}`;
      expect([other, isMistyped(other), isVerified(other)]).toEqual([other, true, false]);
      expect([other, isAdminKeySecret(other)]).toEqual([other, false]);
    }
  });
});

test.each([
  `sk-${'A'.repeat(45)}`,
  `sk-${'a'.repeat(20)}sluice${'b'.repeat(19)}`,
  `sk-${'a'.repeat(40)}sluice_bbbbb`,
  `sk-${'a'.repeat(41)}sluicebbbbbb`,
  'sk-test-sluice-0123456789abcdefghijklmn',
])('%s has another form, and is not a mistyped key', (key) => {
  expect([isMistyped(key), isKeySecret(key)]).toEqual([false, true]);
});
