import { describe, expect, it } from 'vitest';
import { canonicalAddress, createAddressSet } from './address.ts';

describe('address sets', () => {
  it.each([
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.128/25', '10.0.0.127', false],
    ['10.0.0.128/25', '10.0.0.128', true],
    ['0.0.0.0/0', '203.0.113.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '203.0.113.1', false],
    ['2001:db8::/32', '2001:0DB8:0:0::5', true],
    ['2001:db8::/32', '2001:db9::', false],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1', true],
    ['::ffff:1.2.3.4', '1.2.3.4', true],
    ['::ffff:1.2.0.0/112', '1.2.9.9', true],
    ['::ffff:1.2.0.0/112', '1.3.0.0', false],
    ['::ffff:1.2.0.0/90', '1.2.9.9', false],
    ['1.2.3.4', '::ffff:102:304', true],
    ['1.2.3.4/33', '1.2.3.4', false],
    ['1.2.3.4/', '1.2.3.4', false],
    ['1.2.3.4/-1', '1.2.3.4', false],
    ['1.2.3.4/3e0', '1.2.3.4', false],
    ['example.com', '1.2.3.4', false],
  ])('%s and %s: %s', (entry, text, expected) => {
    const address = canonicalAddress(text);
    if (address === null) throw new Error('not an address');
    expect(createAddressSet([entry]).has(address)).toBe(expected);
  });
});
