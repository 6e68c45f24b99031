import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createClientAddress, createIsEncrypted } from './trusted-proxies.ts';

/** The client's address for a connection from `peer`. */
function addressOf(
  headers: IncomingHttpHeaders,
  { peer = '127.0.0.1', trusted = ['127.0.0.1', '192.168.0.0/16'] } = {},
): string | null {
  const request = { headers, socket: { remoteAddress: peer } };
  return createClientAddress(trusted)(request as IncomingMessage);
}

test.each([
  { 'x-forwarded-for': '10.1.1.1' },
  { 'x-forwarded-for': '127.0.0.1, 10.1.1.1' },
  { 'x-real-ip': '10.1.1.1' },
  { forwarded: 'for=10.1.1.1' },
  { 'x-client-ip': '10.1.1.1', 'true-client-ip': '10.1.1.1', 'cf-connecting-ip': '10.1.1.1' },
])('without trusted proxies, no header is trusted: %o', (headers) => {
  expect(addressOf(headers, { trusted: [] })).toBe('127.0.0.1');
  expect(addressOf(headers, { peer: '10.9.9.9' })).toBe('10.9.9.9');
});

describe('behind a trusted proxy', () => {
  test.each([
    ['10.1.1.1', '10.1.1.1'],
    ['1.1.1.1, 10.1.1.1', '10.1.1.1'],
    ['10.1.1.1, 1.1.1.1', '1.1.1.1'],
    ['10.1.1.1, 192.168.0.9', '10.1.1.1'],
    ['10.1.1.1, 1.1.1.1, 192.168.0.9, 192.168.0.8', '1.1.1.1'],
    ['192.168.0.9, 192.168.0.8', '192.168.0.9'],
    ['10.1.1.1,,', '10.1.1.1'],
    ['::ffff:10.1.1.1', '10.1.1.1'],
    ['::FFFF:0a01:0101', '10.1.1.1'],
    ['2001:0DB8:0::5', '2001:db8::5'],
    ['10.1.1.1:4711', '10.1.1.1'],
    ['[::ffff:10.1.1.1]:443', '10.1.1.1'],
    ['10.1.1.1, garbage', null],
    ['garbage, 10.1.1.1', '10.1.1.1'],
    ['10.1.1.1, unknown', null],
    ['010.1.1.1', null],
    ['10.1.1', null],
    ['0x0a010101', null],
    ['10.1.1.1%eth0', null],
    ['', '127.0.0.1'],
  ])('X-Forwarded-For: %s → %s', (header, expected) => {
    expect(addressOf({ 'x-forwarded-for': header })).toBe(expected);
  });

  test('it is the proxy itself if nothing was forwarded', () => {
    expect(addressOf({})).toBe('127.0.0.1');
  });
});

test.each([
  ['::ffff:192.168.0.1', '10.1.1.1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['', null],
])('of a connection from %s it is %s', (peer, expected) => {
  expect(addressOf({ 'x-forwarded-for': '10.1.1.1' }, { peer })).toBe(expected);
});

const proxy = { remoteAddress: '192.168.0.9' };
const other = { remoteAddress: '10.1.1.1' };

describe('a request is encrypted or not', () => {
  test.each([
    ['a connection with TLS', { ...other, encrypted: true }, 'http', [], true],
    ['one without', other, undefined, [], false],
    ['one that claims it itself', other, 'https', [], false],
    ['one that claims it itself, beside a proxy', other, 'https', ['192.168.0.9'], false],
    ['a trusted proxy that reports it', proxy, 'https', ['192.168.0.0/16'], true],
    ['a trusted proxy that reports otherwise', proxy, 'http', ['192.168.0.0/16'], false],
    ['a trusted proxy that reports nothing', proxy, undefined, ['192.168.0.0/16'], false],
    ['nobody any more', {}, 'https', ['192.168.0.0/16'], false],
  ])('from %s', (_what, socket, said, trusted, expected) => {
    const request = { socket, headers: { 'x-forwarded-proto': said } };
    expect(createIsEncrypted(trusted)(request as unknown as IncomingMessage)).toBe(expected);
  });
});
