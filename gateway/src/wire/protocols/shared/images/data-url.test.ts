import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GenerationRequest } from '#canonical/index.ts';
import { base64Prefix, formatDataUrl, parseDataUrl } from './data-url.ts';
import { textCodecs, textProtocols } from '../../index.ts';

const percentEncoded = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

describe('a data URL', () => {
  test.each([
    ['data:image/png;base64,aGk=', 'image/png', 'hi'],
    ['data:image/png;base64,aGk', 'image/png', 'hi'],
    ['data:image/png;base64,aGk%3D', 'image/png', 'hi'],
    ['DATA:Image/PNG ; charset=utf-8; Base64,aGk=', 'image/png', 'hi'],
    ['data:,hi', 'text/plain', 'hi'],
    ['data:text/html,%3Cp%3Eh%C3%A9', 'text/html', '<p>hé'],
    ['data:;charset=utf-8,é,ü', 'text/plain', 'é,ü'],
  ])('%s is read', (url, mime, text) => {
    const data = parseDataUrl(url);
    expect(data?.mime).toBe(mime);
    expect(Buffer.from(data?.base64 ?? '', 'base64').toString()).toBe(text);
  });

  test.each([
    'data:image/png;base64',
    'data:image/png;base64,',
    'data:image/png,',
    'data:image/png;base64,***',
    'data:image/png;base64,aGk%',
    'data:image/png;base64,aGk%3',
    // No bytes come to so many letters.
    'data:image/png;base64,aaaaa',
    'data:image/png;base64,aa=',
    'data:image/png;base64;charset=utf-8,aGk=',
    'data:text/plain,100%',
    'data:text/plain,%zz',
    'https://example.com/?data:,hi',
  ])('%s is not one', (url) => {
    expect(parseDataUrl(url)).toBe(null);
  });

  test('gives the same data from base64 and from percent-encoding, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        const base64 = Buffer.from(bytes).toString('base64');
        const data = { mime: 'image/gif', base64 };
        expect(parseDataUrl(formatDataUrl('image/gif', base64))).toEqual(data);
        expect(parseDataUrl(`data:image/gif,${percentEncoded(bytes)}`)).toEqual(data);
      }),
    );
  });
});

describe('what stands before the data of a URL', () => {
  test.each([
    ['data:image/png;base64,aGk=', 'image/png'],
    ['DATA:image/PNG;charset=x;BASE64,aGk=', 'image/PNG'],
    ['data:;base64,aGk=', ''],
  ])('of %s is told apart', (url, mime) => {
    expect(base64Prefix(url)).toEqual({ mime, length: url.indexOf(',') + 1 });
  });

  test.each(['data:base64,aGk=', 'data:image/png,aGk=', 'data:image/png;base64', 'aGk=', 'data:'])(
    'of %s is nothing',
    (text) => {
      expect(base64Prefix(text)).toBe(null);
    },
  );
});

const imageBodies = {
  chat: (url: string) => ({
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  }),
  responses: (url: string) => ({
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
  }),
};

describe.each(['chat', 'responses'] as const)('%s', (protocol) => {
  const decode = (url: string): GenerationRequest => {
    const { openRequest, readRequest } = textProtocols[protocol];
    const body = JSON.stringify({ model: 'm', ...imageBodies[protocol](url) });
    const path = { operation: 'generate', model: null, stream: null } as const;
    return textCodecs[protocol].decodeRequest(readRequest(openRequest(Buffer.from(body), path)));
  };

  test.each(['data:image/svg+xml,%3Csvg%2F%3E', 'data:image/svg+xml;base64,PHN2Zy8%2B'])(
    'takes an image at %s',
    (url) => {
      const source = { kind: 'data', mime: 'image/svg+xml', base64: 'PHN2Zy8+' };
      expect(decode(url).turns).toEqual([{ role: 'user', blocks: [{ type: 'image', source }] }]);
    },
  );

  test.each(['data:image/png;base64,aaaaa', 'data:image/png,%f'])('refuses one at %s', (url) => {
    expect(() => decode(url)).toThrow(expect.objectContaining({ errorName: 'invalid_value' }));
  });
});
