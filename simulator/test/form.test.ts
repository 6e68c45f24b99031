import { request } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseForm } from '../src/http/form.ts';
import { createImage, startSimulator, type Simulator } from '../src/index.ts';

const type = 'multipart/form-data; boundary=xyz';
const parse = (text: string, contentType = type) =>
  parseForm(Buffer.from(text, 'latin1'), contentType);
const field = (head: string, body: string) =>
  `--xyz\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;

describe('a form', () => {
  test('has its parts in their order', () => {
    const file =
      '--xyz\r\ncontent-type: image/png\r\nCONTENT-DISPOSITION: form-data; filename="a.png"; name="image[]"\r\n\r\n\0\xff\r\n--xy\r\n';
    const parts = parse(`${field('name="n"', '2')}${file}${field('name=empty', '')}--xyz--\r\n`);
    expect(parts).toEqual([
      { name: 'n', filename: null, contentType: '', bytes: Buffer.from('2') },
      {
        name: 'image[]',
        filename: 'a.png',
        contentType: 'image/png',
        bytes: Buffer.from('\0\xff\r\n--xy', 'latin1'),
      },
      { name: 'empty', filename: null, contentType: '', bytes: Buffer.alloc(0) },
    ]);
  });

  test.each([
    ['a boundary in quotes', 'multipart/form-data; charset=utf-8; boundary="a b:c"', 'a b:c'],
    ['a boundary before others', 'multipart/form-data;boundary=----x;charset=utf-8', '----x'],
  ])('may have %s', (_, contentType, boundary) => {
    const text = `preamble\r\n--${boundary}  \r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--${boundary}--epilogue`;
    expect(parse(text, contentType)).toMatchObject([{ name: 'a', bytes: Buffer.from('b') }]);
  });

  test.each([
    ['quotes after backslashes', 'a\\"b; c=d', 'a"b; c=d'],
    ['quotes as browsers write them', 'a%22b', 'a"b'],
    ['an empty name', '', ''],
  ])('may have file names with %s', (_, written, filename) => {
    expect(parse(`${field(`name="image"; filename="${written}"`, 'x')}--xyz--`)).toMatchObject([
      { name: 'image', filename },
    ]);
  });

  test.each<[string, string, string?]>([
    ['no boundary', '', 'multipart/form-data'],
    ['an empty boundary', '', 'multipart/form-data; boundary='],
    ['a boundary that is too long', '', `multipart/form-data; boundary=${'a'.repeat(71)}`],
    ['another boundary', `${field('name="a"', 'b')}--xyz--`, 'multipart/form-data; boundary=abc'],
    ['no end', field('name="a"', 'b')],
    ['an end inside a head', '--xyz\r\nContent-Disposition: form-data; name="a"\r\n'],
    ['an end inside a part', '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\nb'],
    ['a part without a name', `${field('filename="a"', 'b')}--xyz--`],
    ['a part without a disposition', '--xyz\r\nContent-Type: a/b\r\n\r\nb\r\n--xyz--'],
    ['a header without a colon', '--xyz\r\nContent-Disposition\r\n\r\nb\r\n--xyz--'],
    ['text behind a boundary', '--xyzz\r\n\r\nb\r\n--xyz--'],
    ['nothing', ''],
  ])('is refused with %s', (_, text, contentType = type) => {
    expect(typeof parse(text, contentType)).toBe('string');
  });
});

/** Names as browsers and clients send them; the platform writes line ends in its own way. */
const name = fc
  .string({ minLength: 1, maxLength: 12 })
  .map((text) => text.replace(/[\r\n%\\]/g, '-'));
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => new Uint8Array(array));

test('whatever the platform writes is read as it was', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, name, bytes), { minLength: 1 }), async (parts) => {
      const form = new FormData();
      for (const [field, filename, content] of parts) {
        form.append(field, new Blob([content], { type: 'image/png' }), filename);
      }
      const written = new Response(form);
      const body = Buffer.from(await written.arrayBuffer());
      const read = parseForm(body, written.headers.get('content-type') ?? '');
      expect(read).toEqual(
        parts.map(([field, filename, content]) => ({
          name: field,
          filename,
          contentType: 'image/png',
          bytes: Buffer.from(content),
        })),
      );
    }),
  );
});

test('no form is an exception, however it was cut or changed', () => {
  const whole = Buffer.from(
    `${field('name="a"; filename="b"', 'c')}${field('name=d', 'e')}--xyz--`,
  );
  const place = fc.nat({ max: whole.length - 1 });
  fc.assert(
    fc.property(place, fc.integer({ min: 0, max: 255 }), place, (at, byte, end) => {
      const changed = Buffer.from(whole);
      changed[at] = byte;
      const read = parseForm(changed.subarray(0, end), type);
      expect(Array.isArray(read) || typeof read === 'string').toBe(true);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (text) => void parseForm(whole, `multipart/form-data;${text}`)),
  );
});

describe('a form in the log', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator();
  });
  afterAll(() => simulator.close());
  beforeEach(() => simulator.clear());

  test('is the same whatever the slices in which it arrives', async () => {
    const image = createImage({ type: 'png', width: 40, height: 40 });
    const form = Buffer.concat([
      Buffer.from(field('name="model"', 'demo-image') + field('name="prompt"', 'a cat')),
      Buffer.from(
        '--xyz\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\nContent-Type: image/png\r\n\r\n',
      ),
      image,
      Buffer.from('\r\n--xyz--\r\n'),
    ]);
    for (const slice of [1, 7, 64, form.length]) {
      expect(await send(simulator, form, slice)).toBe(200);
    }
    const [first, ...others] = simulator.requests().map((entry) => entry.form);
    expect(first).toMatchObject([
      { name: 'model', filename: null, text: 'demo-image' },
      { name: 'prompt', text: 'a cat' },
      {
        name: 'image',
        filename: 'a.png',
        contentType: 'image/png',
        bytes: image.length,
        text: null,
      },
    ]);
    for (const form of others) expect(form).toEqual(first);
  });

  test('is whole although its body was cut', async () => {
    const form = new FormData();
    const image = createImage({ type: 'webp', width: 40, height: 40, bytes: 2_000_000 });
    form.set('image', new Blob([new Uint8Array(image)], { type: 'image/webp' }), 'a.webp');
    form.set('prompt', 'a cat');
    form.set('model', 'demo-image');
    const headers = { authorization: 'Bearer key' };
    const path = `${simulator.url}/v1/images/edits`;
    expect((await fetch(path, { method: 'POST', headers, body: form })).status).toBe(200);
    const [logged] = simulator.requests();
    expect(logged?.bodyTruncated).toBe(true);
    expect(logged?.form?.map(({ name, bytes }) => [name, bytes])).toEqual([
      ['image', 2_000_000],
      ['prompt', 5],
      ['model', 10],
    ]);
  });

  function send(to: Simulator, form: Buffer, slice: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const sent = request(`${to.url}/v1/images/edits`, {
        method: 'POST',
        headers: { authorization: 'Bearer key', 'content-type': type },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      for (let at = 0; at < form.length; at += slice) sent.write(form.subarray(at, at + slice));
      sent.end();
    });
  }
});
