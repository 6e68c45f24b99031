import { expect, test } from 'vitest';
import {
  acceptedStep,
  encodeBase32,
  newRecoveryCodes,
  newTotpSecret,
  otpauthUri,
  plainCode,
  totpCode,
  totpStep,
} from './totp.ts';

/** RFC 6238, appendix B, for SHA-1: its codes have eight digits, and ours are their ends. */
const secret = encodeBase32(Buffer.from('12345678901234567890'));

test.each([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
])('RFC 6238: the code at %i s', (seconds, code) => {
  expect(totpCode(secret, totpStep(seconds * 1_000))).toBe(code.slice(-6));
});

/** RFC 4648, section 10. */
test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('RFC 4648: %j in base32', (text, encoded) => {
  expect(encodeBase32(Buffer.from(text))).toBe(encoded);
});

test('a code is accepted one step early or late, and no step twice', () => {
  const now = 1_111_111_111_000;
  const step = totpStep(now);
  const accept = (at: number, lastStep = 0) =>
    acceptedStep(secret, totpCode(secret, at), { now, lastStep });
  expect([-2, -1, 0, 1, 2].map((by) => accept(step + by))).toEqual([
    null,
    step - 1,
    step,
    step + 1,
    null,
  ]);
  expect(accept(step, step)).toBe(null);
  expect(accept(step - 1, step)).toBe(null);
  expect(accept(step + 1, step)).toBe(step + 1);
  expect(acceptedStep(secret, '', { now, lastStep: 0 })).toBe(null);
});

test('secrets, recovery codes and what a person types', () => {
  expect(newTotpSecret()).toMatch(/^[A-Z2-7]{32}$/);
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^[a-z2-7]{5}-[a-z2-7]{5}$/);
  expect(plainCode(' ABCDE-fgh 23 ')).toBe('abcdefgh23');
  expect(otpauthUri('ABC', 'ada+x@example.com', 'ai.example.com')).toBe(
    'otpauth://totp/Sluice%20(ai.example.com):ada%2Bx%40example.com?secret=ABC&issuer=Sluice%20(ai.example.com)',
  );
});
