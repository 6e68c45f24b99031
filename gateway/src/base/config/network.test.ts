import { expect, test } from 'vitest';
import { isWithinRanges } from './network.ts';

test.each([
  ['10.1.2.3', ['10.0.0.0/8'], true],
  ['10.1.0.0/16', ['192.168.0.0/16', '10.0.0.0/8'], true],
  ['10.0.0.0/8', ['10.0.0.0/8'], true],
  ['10.0.0.1/8', ['10.0.0.0/8'], true],
  ['10.0.0.0/7', ['10.0.0.0/8'], false],
  ['11.0.0.1', ['10.0.0.0/8'], false],
  ['0.0.0.0/0', ['10.0.0.0/8', '11.0.0.0/8'], false],
  ['2001:db8:0:0::1', ['2001:DB8::/32'], true],
  ['2001:db9::1', ['2001:db8::/32'], false],
  ['::ffff:10.0.0.1', ['10.0.0.0/8'], true],
  ['10.0.0.1', ['::ffff:10.0.0.0/104'], true],
  ['10.0.0.1', ['::ffff:0.0.0.0/96'], true],
  ['10.0.0.1', ['::/0'], false],
  ['10.0.0.1', [], false],
] as const)('%s is in one of %j: %s', (range, ranges, expected) => {
  expect(isWithinRanges(range, ranges)).toBe(expected);
});
