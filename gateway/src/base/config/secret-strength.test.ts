import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { enoughBits, seemingBits } from './secret-strength.ts';

describe('a secret seems', () => {
  test.each([
    ['base64url, 256 bits', () => randomBytes(32).toString('base64url')],
    ['base64url, 192 bits', () => randomBytes(24).toString('base64url')],
    ['hexadecimal, 160 bits', () => randomBytes(20).toString('hex')],
    ['digits, 60 of them', () => randomBytes(60).reduce((text, byte) => text + (byte % 10), '')],
  ])('random if it is: %s', (_, make) => {
    for (let round = 0; round < 300; round += 1) {
      const secret = `sk-${make()}`;
      expect([secret, seemingBits(secret) >= enoughBits]).toEqual([secret, true]);
    }
  });

  test.each([
    `sk-${'a'.repeat(60)}`,
    'sk-0123456789abcdefghijklmnopqrstuvwxyz',
    'sk-12345678901234567890123456789012',
    `sk-${'production'.repeat(5)}`,
    'sk-secretsecretsecretsecretsecretsecret',
    'sk-our-gateway-key-for-the-production-team',
    'sk-Team-Alpha-Gateway-Secret-Number-One',
    'sk-31415926535897932384626433832795',
  ])('typed if it was: %s', (secret) => {
    expect(seemingBits(secret)).toBeLessThan(enoughBits);
  });
});
