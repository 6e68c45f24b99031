import { describe, expect, test } from 'vitest';
import {
  accept,
  chooseCredential,
  createCredential,
  type Credential,
  isProbeDue,
  isUsable,
  kindOfWait,
  refuse,
  shortestWaitOf,
} from './credential.ts';

const now = 1_000;
const credential = (parts: Partial<Credential> = {}): Credential => ({
  ...createCredential('sk'),
  ...parts,
});
const clean = credential();
const cooling = credential({ coolUntil: now + 1 });
const cooled = credential({ coolUntil: now });
const refused = credential({ refusals: 1, refusedUntil: now + 5 });
const due = credential({ refusals: 1, refusedUntil: now });

test.each([
  ['clean', clean, { usable: true, probe: false }],
  ['cooling down', cooling, { usable: false, probe: false }],
  ['cooled down this moment', cooled, { usable: true, probe: false }],
  ['refused', refused, { usable: false, probe: false }],
  ['refused until this moment', due, { usable: false, probe: true }],
  ['being probed', { ...due, probing: true }, { usable: false, probe: false }],
  ['due, but cooling down', { ...due, coolUntil: now + 1 }, { usable: false, probe: false }],
  ['due, cooled down this moment', { ...due, coolUntil: now }, { usable: false, probe: true }],
])('%s', (_what, each, expected) => {
  expect({ usable: isUsable(each, now), probe: isProbeDue(each, now) }).toEqual(expected);
});

describe('a refusal', () => {
  test('lasts twice as long each time, five minutes at most, until the credential is accepted', () => {
    const own = credential();
    const spans = [1, 2, 3, 4, 5].map(() => refuse(own, own.refusedUntil));
    expect(spans).toEqual([60_000, 120_000, 240_000, 300_000, 300_000]);
    accept(own);
    expect(refuse(own, now)).toBe(60_000);
  });

  test('counts once for all requests that are refused meanwhile', () => {
    const own = credential();
    refuse(own, now);
    expect(refuse(own, now + 1_000)).toBe(59_000);
    expect(own.refusals).toBe(1);
    expect(refuse(own, now + 60_000)).toBe(120_000);
  });
});

test.each([
  ['the next usable one', [cooling, clean, clean], 0, false, 1],
  ['it goes round', [clean, cooling, cooling], 1, false, 0],
  ['none', [cooling, refused], 0, true, -1],
  ['a due one if others can respond instead', [clean, due], 0, true, 1],
  ['not a due one if nobody else can respond', [due, clean], 0, false, 1],
  ['a due one if there is nothing better', [refused, due, due], 0, false, 1],
])('chosen: %s', (_what, credentials, start, mayProbe, index) => {
  expect(chooseCredential(credentials, start, mayProbe, now)).toBe(index);
});

test.each([
  ['cooling down first', [cooling, refused], 1, 'rate-limited'],
  ['refused first', [credential({ coolUntil: now + 9 }), refused], 5, 'credential-refused'],
  ['both at once', [credential({ coolUntil: now + 5 }), refused], 5, 'rate-limited'],
  ['refused and cooling down', [{ ...refused, coolUntil: now + 9 }], 9, 'credential-refused'],
  ['usable', [clean], 0, 'rate-limited'],
  ['none', [], Infinity, 'credential-refused'],
])('the wait: %s', (_what, credentials, wait, kind) => {
  expect(shortestWaitOf(credentials, now)).toBe(wait);
  expect(kindOfWait(credentials, now)).toBe(kind);
});
