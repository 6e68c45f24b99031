import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstBytes, isPublicUrl, readDataUrl } from './video-values.ts';

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
  'http://①②⑦.0.0.1/',
])('not public: %s', (url) => expect(isPublicUrl(url)).toBe(false));

test('whatever the text, it is judged without an error', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.webUrl(),
        fc.string().map((text) => `http://${text}`),
      ),
      (text) => {
        isPublicUrl(text);
        readDataUrl(text);
      },
    ),
  );
});

test('Base64 is read back to the bytes that were written', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
      const data = Buffer.from(bytes).toString('base64');
      expect(readDataUrl(`data:image/png;base64,${data}`)).toEqual({ type: 'image/png', data });
      expect(firstBytes(data, 12)).toEqual(Buffer.from(bytes.subarray(0, 12)));
    }),
  );
});

test.each([
  ['no Base64', 'data:image/png,abcd'],
  ['nothing in it', 'data:image/png;base64,'],
  ['a wrong length', 'data:image/png;base64,abc'],
  ['a wrong letter', 'data:image/png;base64,ab-_'],
  ['white space', 'data:image/png;base64,ab d'],
  ['padding in the middle', 'data:image/png;base64,ab==abcd'],
  ['too much padding', 'data:image/png;base64,a==='],
  ['no type', 'data:;base64,abcd'],
  ['a parameter', 'data:image/png;x=y;base64,abcd'],
])('not a picture in Base64: %s', (_what, text) => expect(readDataUrl(text)).toBeNull());
