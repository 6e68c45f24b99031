import { describe, expect, test } from 'vitest';
import { isPublicAddress, isPublicUrl } from './public-address.ts';

describe('S-17 addresses', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.0.170',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:93.184.216.34',
    '::ffff:7f00:1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '100::1',
  ])('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each(['93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:2800:220:1:248:1893:25c8:1946'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

test.each([
  'https://example.com/a.png',
  'http://example.com:8080/a?b#c',
  'HTTPS://EXAMPLE.COM',
  'https://8.8.8.8/a.png',
  'https://[2606:4700::1111]/a.png',
  'https://localhost.example.com/',
])('public: %s', (url) => expect(isPublicUrl(url)).toBe(true));

test.each([
  '',
  'a.png',
  '/a.png',
  'ftp://example.com/a.png',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://127.0.0.1/',
  'http://127.1/',
  'http://0x7f.1/',
  'http://2130706433/',
  'http://0177.0.0.1/',
  'http://127.0.0.1./',
  'http://0/',
  'http://10.0.0.7/',
  'http://172.16.0.1/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'http://localhost/',
  'http://LOCALHOST:80/',
  'http://localhost./',
  'http://a.localhost/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'http://printer.local/',
  'http://①②⑦.0.0.1/',
])('not public: %s', (url) => expect(isPublicUrl(url)).toBe(false));
