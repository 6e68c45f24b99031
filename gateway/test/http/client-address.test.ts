import { describe, expect, it } from 'vitest';
import { canonicalAddress, createAddressSet } from '#http/index.ts';
import { bearer, call, startGateway } from './support.ts';

/** The status of a call whose key allows `ips` only, through a gateway that trusts `trustedProxies`. */
async function status(
  ips: readonly string[],
  trustedProxies: readonly string[],
  headers: Record<string, string | string[]>,
): Promise<number> {
  const gateway = await startGateway({ caller: { ips }, server: { trustedProxies } });
  return (await call(gateway.port, '/v1/models', { headers: { ...bearer(), ...headers } })).status;
}

describe('without trusted proxies', () => {
  it.each([
    { 'x-forwarded-for': '10.1.1.1' },
    { 'x-forwarded-for': '127.0.0.1, 10.1.1.1' },
    { 'x-real-ip': '10.1.1.1' },
    { forwarded: 'for=10.1.1.1' },
    { 'x-client-ip': '10.1.1.1', 'true-client-ip': '10.1.1.1', 'cf-connecting-ip': '10.1.1.1' },
  ])('no header is trusted: %o', async (headers) => {
    expect(await status(['10.0.0.0/8'], [], headers)).toBe(403);
    expect(await status(['127.0.0.1'], [], headers)).toBe(200);
  });
});

describe('behind a trusted proxy', () => {
  it.each([
    ['10.1.1.1', 200],
    ['1.1.1.1, 10.1.1.1', 200],
    ['10.1.1.1, 1.1.1.1', 403],
    ['10.1.1.1, 192.168.0.9', 200],
    ['10.1.1.1, 1.1.1.1, 192.168.0.9, 192.168.0.8', 403],
    ['::ffff:10.1.1.1', 200],
    ['::FFFF:0a01:0101', 200],
    ['10.1.1.1:4711', 200],
    ['[::ffff:10.1.1.1]:443', 200],
    ['10.1.1.1, garbage', 403],
    ['garbage, 10.1.1.1', 200],
    ['10.1.1.1, unknown', 403],
    ['010.1.1.1', 403],
    ['10.1.1', 403],
    ['0x0a010101', 403],
    ['10.1.1.1%eth0', 403],
    ['', 403],
  ])('X-Forwarded-For: %s → %i', async (header, expected) => {
    const trusted = ['127.0.0.1', '192.168.0.0/16'];
    expect(await status(['10.0.0.0/8'], trusted, { 'x-forwarded-for': header })).toBe(expected);
  });

  it('reads repeated headers as one list', async () => {
    const headers = { 'x-forwarded-for': ['10.1.1.1', '1.1.1.1'] };
    expect(await status(['10.0.0.0/8'], ['127.0.0.1'], headers)).toBe(403);
  });

  it('is the client itself if nothing was forwarded', async () => {
    expect(await status(['127.0.0.1'], ['127.0.0.0/8'], {})).toBe(200);
  });
});

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
