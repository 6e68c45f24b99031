import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstBytes, readDataUrl } from './video-values.ts';
import { isPublicUrl } from '../images/public-address.ts';

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
